// Command oracle answers questions with Kubernetes' own packages: one JSON value a line on standard input, one answer
// a line on standard output. The first argument says which questions they are.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
)

// answerers has one entry for each sub-command; the files beside this one add theirs.
var answerers = map[string]func(json.RawMessage) (any, error){}

func main() {
	if len(os.Args) != 2 || answerers[os.Args[1]] == nil {
		names := make([]string, 0, len(answerers))
		for name := range answerers {
			names = append(names, name)
		}
		sort.Strings(names)
		fmt.Fprintf(os.Stderr, "usage: oracle %s\n", strings.Join(names, "|"))
		os.Exit(2)
	}
	answer := answerers[os.Args[1]]
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	decoder := json.NewDecoder(in)
	for decoder.More() {
		var question json.RawMessage
		if err := decoder.Decode(&question); err != nil {
			fatal(err)
		}
		result, err := answer(question)
		if err != nil {
			fatal(fmt.Errorf("%s: %w", question, err))
		}
		if err := encoder.Encode(result); err != nil {
			fatal(err)
		}
	}
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

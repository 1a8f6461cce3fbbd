// Package coxswain starts a Kubernetes control plane for a test.
package coxswain

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
)

// Server is a running control plane.
type Server struct {
	// URL is where it serves.
	URL string
	// Kubeconfig is the file of an administrator.
	Kubeconfig string

	command *exec.Cmd
	folder  string
}

var readyLine = regexp.MustCompile(`ready at (\S+), run: export KUBECONFIG=(.+)`)

// Start returns when a Pod can be created. Flags are those of coxswain up.
func Start(flags ...string) (*Server, error) {
	program := os.Getenv("COXSWAIN")
	if program == "" {
		program = "coxswain"
	}
	folder, err := os.MkdirTemp("", "coxswain-")
	if err != nil {
		return nil, err
	}
	arguments := []string{"up", "--port=0", "--storage=memory", "--data-dir=" + filepath.Join(folder, "data")}
	command := exec.Command(program, append(arguments, flags...)...)
	var errors bytes.Buffer
	command.Stderr = &errors
	output, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		os.RemoveAll(folder)
		return nil, err
	}
	server := &Server{command: command, folder: folder}
	line, _ := bufio.NewReader(output).ReadString('\n')
	match := readyLine.FindStringSubmatch(line)
	if match == nil {
		server.Stop()
		return nil, fmt.Errorf("coxswain did not start: %s%s", line, errors.String())
	}
	server.URL, server.Kubeconfig = match[1], match[2]
	return server, nil
}

// Stop ends the server and removes its files.
func (s *Server) Stop() error {
	defer os.RemoveAll(s.folder)
	if err := s.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return s.command.Wait()
}

// ForTest starts a server that stops when the test ends.
func ForTest(t testing.TB, flags ...string) *Server {
	t.Helper()
	server, err := Start(flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// Command gnostic reads an OpenAPI v2 or v3 document as JSON and prints what upstream's server sends for it as protobuf, except
// that values of any form are written as compact JSON with sorted keys instead of as block YAML.
package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"sigs.k8s.io/yaml"
)

func compact(text string) string {
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		panic(err)
	}
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	return buffer.String()
}

func normalize(message protoreflect.Message) {
	switch any := message.Interface().(type) {
	case *openapi_v2.Any:
		any.Yaml = compact(any.Yaml)
		return
	case *openapi_v3.Any:
		any.Yaml = compact(any.Yaml)
		return
	}
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if field.Kind() != protoreflect.MessageKind {
			return true
		}
		if !field.IsList() {
			normalize(value.Message())
			return true
		}
		for i := range value.List().Len() {
			normalize(value.List().Get(i).Message())
		}
		return true
	})
}

func parse(input []byte) (proto.Message, error) {
	if bytes.HasPrefix(input, []byte(`{"openapi":`)) {
		return openapi_v3.ParseDocument(input)
	}
	return openapi_v2.ParseDocument(input)
}

func main() {
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	document, err := parse(input)
	if err != nil {
		panic(err)
	}
	normalize(document.ProtoReflect())
	output, err := proto.MarshalOptions{Deterministic: true}.Marshal(document)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(output)
}

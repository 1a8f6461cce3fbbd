// Command protobuf reads a JSON list of objects of built-in kinds and prints what upstream makes of each: its protobuf, and
// the JSON of that protobuf (which has no empty lists). An object that upstream cannot read gives its error.
package main

import (
	"encoding/json"
	"os"

	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

type answer struct {
	JSON     json.RawMessage `json:"json,omitempty"`
	Protobuf []byte          `json:"protobuf,omitempty"`
	Error    string          `json:"error,omitempty"`
}

func main() {
	s := scheme.Scheme
	for _, add := range []func(*runtime.Scheme) error{
		apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme, admissionv1.AddToScheme,
	} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	decoder := serializer.NewCodecFactory(s).UniversalDeserializer()
	encoder := protobuf.NewSerializer(s, s)
	var inputs []json.RawMessage
	if err := json.NewDecoder(os.Stdin).Decode(&inputs); err != nil {
		panic(err)
	}
	answers := []answer{}
	for _, input := range inputs {
		object, _, err := decoder.Decode(input, nil, nil)
		if err != nil {
			answers = append(answers, answer{Error: err.Error()})
			continue
		}
		bytes, err := runtime.Encode(encoder, object)
		if err != nil {
			panic(err)
		}
		again, _, err := encoder.Decode(bytes, nil, nil)
		if err != nil {
			panic(err)
		}
		text, err := json.Marshal(again)
		if err != nil {
			panic(err)
		}
		answers = append(answers, answer{JSON: text, Protobuf: bytes})
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		panic(err)
	}
}

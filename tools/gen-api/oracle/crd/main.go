// Command crd reads a JSON list of CustomResourceDefinitions and prints the OpenAPI documents that upstream's own
// builder makes of each served version.
package main

import (
	"encoding/json"
	"os"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
)

type documents struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	V2      any    `json:"v2"`
	V3      any    `json:"v3"`
}

func main() {
	var crds []*apiextensionsv1.CustomResourceDefinition
	if err := json.NewDecoder(os.Stdin).Decode(&crds); err != nil {
		panic(err)
	}
	result := []documents{}
	for _, crd := range crds {
		for _, version := range crd.Spec.Versions {
			if !version.Served {
				continue
			}
			v2, err := builder.BuildOpenAPIV2(crd, version.Name, builder.Options{V2: true, IncludeSelectableFields: true})
			if err != nil {
				panic(err)
			}
			v3, err := builder.BuildOpenAPIV3(crd, version.Name, builder.Options{IncludeSelectableFields: true})
			if err != nil {
				panic(err)
			}
			result = append(result, documents{crd.Name, version.Name, v2, v3})
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		panic(err)
	}
}

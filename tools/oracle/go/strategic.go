package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

func init() { answerers["strategic"] = answerStrategic }

// What strategic merge makes of a case. Several answers mean that upstream's answer depends on the order in which Go
// walks a map.
type strategicCase struct {
	Kind      string          `json:"kind"`
	Op        string          `json:"op"`
	Original  json.RawMessage `json:"original"`
	Patch     json.RawMessage `json:"patch"`
	Modified  json.RawMessage `json:"modified"`
	Current   json.RawMessage `json:"current"`
	Overwrite bool            `json:"overwrite"`
}

type strategicAnswer struct {
	Ok    json.RawMessage `json:"ok,omitempty"`
	Error string          `json:"error,omitempty"`
}

var strategicTypes = map[string]any{
	"Deployment":     appsv1.Deployment{},
	"Pod":            corev1.Pod{},
	"Service":        corev1.Service{},
	"ConfigMap":      corev1.ConfigMap{},
	"Node":           corev1.Node{},
	"ServiceAccount": corev1.ServiceAccount{},
	"Endpoints":      corev1.Endpoints{},
	"Ingress":        networkingv1.Ingress{},
}

func answerStrategic(line json.RawMessage) (any, error) {
	var c strategicCase
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, err
	}
	answers := []strategicAnswer{}
	for i := 0; i < 12; i++ {
		next := runStrategic(c)
		known := false
		for _, answer := range answers {
			known = known || (bytes.Equal(answer.Ok, next.Ok) && answer.Error == next.Error)
		}
		if !known {
			answers = append(answers, next)
		}
	}
	return answers, nil
}

func runStrategic(c strategicCase) (answer strategicAnswer) {
	defer func() {
		if r := recover(); r != nil {
			answer = strategicAnswer{Error: fmt.Sprintf("panic: %v", r)}
		}
	}()
	dataStruct := strategicTypes[c.Kind]
	var out []byte
	var err error
	switch c.Op {
	case "apply":
		out, err = strategicpatch.StrategicMergePatch(c.Original, c.Patch, dataStruct)
	case "two":
		out, err = strategicpatch.CreateTwoWayMergePatch(c.Original, c.Modified, dataStruct)
	default:
		var schema strategicpatch.PatchMetaFromStruct
		schema, err = strategicpatch.NewPatchMetaFromStruct(dataStruct)
		if err == nil {
			out, err = strategicpatch.CreateThreeWayMergePatch(c.Original, c.Modified, c.Current, schema, c.Overwrite)
		}
	}
	switch {
	case err == nil:
		return strategicAnswer{Ok: out}
	case mergepatch.IsConflict(err):
		return strategicAnswer{Error: "conflict"}
	default:
		return strategicAnswer{Error: err.Error()}
	}
}

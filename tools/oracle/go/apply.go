package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

func init() { answerers["apply"] = answerApply }

// Writes by several managers, one after the other. Every step works on the object that the last good one left.
type applyQuestion struct {
	Kind  string      `json:"kind"`
	Steps []applyStep `json:"steps"`
}

type applyStep struct {
	Op          string         `json:"op"` // apply or update
	Manager     string         `json:"manager"`
	APIVersion  string         `json:"apiVersion"`
	Force       bool           `json:"force"`
	Subresource string         `json:"subresource"`
	Object      map[string]any `json:"object"`
}

type applyAnswer struct {
	Object map[string]any `json:"object,omitempty"`
	Error  string         `json:"error,omitempty"`
	Causes []string       `json:"causes,omitempty"`
}

var applySchemas map[string]*spec.Schema

// The schemas are the fixture's own, so that both sides read the same ones.
func loadSchemas() error {
	if applySchemas != nil {
		return nil
	}
	file, err := os.Open(os.Getenv("ORACLE_SCHEMAS"))
	if err != nil {
		return err
	}
	defer file.Close()
	reader, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	var content struct {
		Definitions map[string]*spec.Schema `json:"definitions"`
	}
	if err := json.NewDecoder(reader).Decode(&content); err != nil {
		return err
	}
	applySchemas = content.Definitions
	return nil
}

// Two versions of example.com Thing differ in the names of two fields; other kinds have one version.
type versions struct{}

var renames = [][2]string{{"replicas", "size"}, {"tags", "labels"}}

func (versions) Convert(in, out, context any) error { return errors.New("not used") }

func (versions) ConvertToVersion(in runtime.Object, gv runtime.GroupVersioner) (runtime.Object, error) {
	object := in.(*unstructured.Unstructured)
	target, ok := gv.(schema.GroupVersion)
	if !ok {
		return nil, fmt.Errorf("unexpected target %v", gv)
	}
	from := object.GroupVersionKind().GroupVersion()
	if from == target {
		return object, nil
	}
	if target.Group != "example.com" || (target.Version != "v1" && target.Version != "v2") {
		return nil, runtime.NewNotRegisteredErrForKind("oracle", target.WithKind(object.GetKind()))
	}
	out := object.DeepCopy()
	out.SetAPIVersion(target.String())
	if spec, ok := out.Object["spec"].(map[string]any); ok {
		for _, pair := range renames {
			old, new := pair[0], pair[1]
			if target.Version == "v1" {
				old, new = new, old
			}
			if value, ok := spec[old]; ok {
				delete(spec, old)
				spec[new] = value
			}
		}
	}
	return out, nil
}

func (versions) ConvertFieldLabel(gvk schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

type noDefaults struct{}

func (noDefaults) Default(runtime.Object) {}

type creater struct{}

func (creater) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(kind)
	return object, nil
}

func answerApply(line json.RawMessage) (any, error) {
	if err := loadSchemas(); err != nil {
		return nil, err
	}
	converter, err := managedfields.NewTypeConverter(applySchemas, false)
	if err != nil {
		return nil, err
	}
	variants := []json.RawMessage{}
	for i := 0; i < 3; i++ {
		answer, err := runApply(line, converter)
		if err != nil {
			return nil, err
		}
		known := false
		for _, variant := range variants {
			known = known || bytes.Equal(variant, answer)
		}
		if !known {
			variants = append(variants, answer)
		}
	}
	return variants, nil
}

func runApply(line json.RawMessage, converter managedfields.TypeConverter) (json.RawMessage, error) {
	var question applyQuestion
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	if err := decoder.Decode(&question); err != nil {
		return nil, err
	}
	answers := []applyAnswer{}
	var live *unstructured.Unstructured
	for i, step := range question.Steps {
		next, err := runStep(step, question.Kind, live, converter)
		if err != nil {
			answers = append(answers, failed(err))
			continue
		}
		stamp(next, i)
		if live == nil {
			next.SetUID("uid")
		}
		live = next
		answers = append(answers, applyAnswer{Object: next.Object})
	}
	return json.Marshal(answers)
}

func failed(err error) applyAnswer {
	answer := applyAnswer{Error: err.Error()}
	if status, ok := err.(*apierrors.StatusError); ok && status.ErrStatus.Details != nil {
		for _, cause := range status.ErrStatus.Details.Causes {
			answer.Causes = append(answer.Causes, fmt.Sprintf("%s %s %s", cause.Type, cause.Field, cause.Message))
		}
		sort.Strings(answer.Causes)
	}
	return answer
}

func runStep(step applyStep, kind string, live *unstructured.Unstructured, converter managedfields.TypeConverter) (*unstructured.Unstructured, error) {
	gv, err := schema.ParseGroupVersion(step.APIVersion)
	if err != nil {
		return nil, err
	}
	reset := fieldpath.NewSet(fieldpath.MakePathOrDie("status"))
	if step.Subresource == "status" {
		reset = fieldpath.NewSet(fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata", "labels"))
	}
	filters := map[fieldpath.APIVersion]*fieldpath.Set{}
	for _, version := range []string{step.APIVersion, "example.com/v1", "example.com/v2"} {
		filters[fieldpath.APIVersion(version)] = reset
	}
	manager, err := managedfields.NewDefaultFieldManager(converter, versions{}, noDefaults{}, creater{},
		gv.WithKind(kind), gv, step.Subresource, fieldpath.NewExcludeFilterSetMap(filters))
	if err != nil {
		return nil, err
	}
	current, err := liveObject(live, gv.WithKind(kind))
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{Object: plain(step.Object).(map[string]any)}
	var result runtime.Object
	if step.Op == "apply" {
		result, err = manager.Apply(current, object, step.Manager, step.Force)
	} else {
		result = manager.UpdateNoErrors(current, object, step.Manager)
	}
	if err != nil {
		return nil, err
	}
	return result.(*unstructured.Unstructured), nil
}

func liveObject(live *unstructured.Unstructured, gvk schema.GroupVersionKind) (runtime.Object, error) {
	if live == nil {
		return creater{}.New(gvk)
	}
	return versions{}.ConvertToVersion(live.DeepCopy(), gvk.GroupVersion())
}

// Numbers as Kubernetes reads them.
func plain(value any) any {
	switch typed := value.(type) {
	case map[string]any:
		for key, inner := range typed {
			typed[key] = plain(inner)
		}
	case []any:
		for i, inner := range typed {
			typed[i] = plain(inner)
		}
	case json.Number:
		if whole, err := typed.Int64(); err == nil {
			return whole
		}
		float, _ := typed.Float64()
		return float
	}
	return value
}

// What was written now was written at the time of the step.
func stamp(object *unstructured.Unstructured, step int) {
	entries := object.GetManagedFields()
	for i := range entries {
		if entries[i].Time != nil && entries[i].Time.Year() > 2024 {
			at := metav1.NewTime(time.Date(2024, 1, 1, 0, 0, step, 0, time.UTC))
			entries[i].Time = &at
		}
	}
	if entries != nil {
		object.SetManagedFields(entries)
	}
}

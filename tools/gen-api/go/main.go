// Command gen-api prints the facts that packages/api is generated from, as JSON: every API type that the pinned
// modules register, its fields with their JSON and protobuf tags, and its OpenAPI definition without prose.
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"sort"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apidiscoveryv2beta1 "k8s.io/api/apidiscovery/v2beta1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	imagepolicyv1alpha1 "k8s.io/api/imagepolicy/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationv1beta1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"coxswain.dev/gen-api/openapi"
)

type field struct {
	Go            string   `json:"go"`
	JSON          string   `json:"json"`
	Options       []string `json:"options,omitempty"`
	Protobuf      string   `json:"protobuf,omitempty"`
	Type          string   `json:"type"`
	PatchStrategy string   `json:"patchStrategy,omitempty"`
	PatchMergeKey string   `json:"patchMergeKey,omitempty"`
}

type goType struct {
	Kind string `json:"kind"`
	// Elem is the type of a named slice that protobuf wraps into a message of its own.
	Elem   string  `json:"elem,omitempty"`
	Fields []field `json:"fields,omitempty"`
}

type kind struct {
	Group, Version, Kind, Type string
}

type facts struct {
	Kinds       []kind                     `json:"kinds"`
	Types       map[string]*goType         `json:"types"`
	Definitions map[string]json.RawMessage `json:"definitions"`
}

type modelNamer interface{ OpenAPIModelName() string }
type marshaler interface{ Marshal() ([]byte, error) }

func modelName(t reflect.Type) string {
	if namer, ok := reflect.New(t).Interface().(modelNamer); ok {
		return namer.OpenAPIModelName()
	}
	return t.PkgPath() + "." + t.Name()
}

type walker struct{ types map[string]*goType }

// expression writes a field's type: `*T`, `[]T`, `{K}T`, a basic type, or the name of a visited type.
func (w *walker) expression(t reflect.Type) string {
	_, isMessage := reflect.New(t).Interface().(marshaler)
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + w.expression(t.Elem())
	case reflect.Slice:
		if isMessage && t.Name() != "" {
			name := modelName(t)
			w.types[name] = &goType{Kind: "slice", Elem: w.expression(t.Elem())}
			return name
		}
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + w.expression(t.Elem())
	case reflect.Map:
		return "{" + w.expression(t.Key()) + "}" + w.expression(t.Elem())
	case reflect.Struct:
		w.visit(t)
		return modelName(t)
	default:
		return t.Kind().String()
	}
}

func (w *walker) visit(t reflect.Type) {
	name := modelName(t)
	if w.types[name] != nil {
		return
	}
	result := &goType{Kind: "struct"}
	w.types[name] = result
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		tag, hasTag := f.Tag.Lookup("json")
		parts := strings.Split(tag, ",")
		one := field{
			Go: f.Name, JSON: parts[0], Options: parts[1:], Protobuf: f.Tag.Get("protobuf"),
			PatchStrategy: f.Tag.Get("patchStrategy"), PatchMergeKey: f.Tag.Get("patchMergeKey"),
		}
		if !hasTag && !f.Anonymous {
			one.Options = []string{"untagged"}
		}
		if f.Type.Kind() == reflect.Interface {
			one.Type = "any"
		} else {
			one.Type = w.expression(f.Type)
		}
		result.Fields = append(result.Fields, one)
	}
}

// withoutProse removes descriptions, and marks references that had none: a reference with one is wrapped.
func withoutProse(node any, isProperty bool) any {
	switch value := node.(type) {
	case map[string]any:
		result := map[string]any{}
		_, described := value["description"]
		for key, child := range value {
			switch key {
			case "description":
				if text, ok := child.(string); !ok {
					result[key] = withoutProse(child, false)
				} else if isProperty && text == "" {
					described = false
				}
			case "properties":
				children := map[string]any{}
				for name, property := range child.(map[string]any) {
					children[name] = withoutProse(property, true)
				}
				result[key] = children
			case "default":
				result[key] = child
			default:
				result[key] = withoutProse(child, false)
			}
		}
		if _, isReference := value["$ref"]; isReference && isProperty && !described {
			result["bare"] = true
		}
		return result
	case []any:
		for i := range value {
			value[i] = withoutProse(value[i], false)
		}
		return value
	default:
		return node
	}
}

func main() {
	s := scheme.Scheme
	for _, add := range []func(*runtime.Scheme) error{
		apiextensionsv1.AddToScheme, apiextensionsv1beta1.AddToScheme,
		apiregistrationv1.AddToScheme, apiregistrationv1beta1.AddToScheme,
		admissionv1.AddToScheme, admissionv1beta1.AddToScheme, imagepolicyv1alpha1.AddToScheme,
		apidiscoveryv2.AddToScheme, apidiscoveryv2beta1.AddToScheme,
		metav1.AddMetaToScheme, metav1beta1.AddMetaToScheme,
	} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	w := &walker{types: map[string]*goType{}}
	out := facts{Types: w.types, Definitions: map[string]json.RawMessage{}}
	for gvk, t := range s.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal {
			continue
		}
		w.visit(t)
		out.Kinds = append(out.Kinds, kind{gvk.Group, gvk.Version, gvk.Kind, modelName(t)})
	}
	for _, extra := range []any{
		metav1.APIResourceList{}, metav1.APIGroupList{}, metav1.APIVersions{}, metav1.Table{}, version.Info{},
		metav1.PartialObjectMetadata{}, metav1.PartialObjectMetadataList{}, runtime.Unknown{}, metav1.List{}, metav1.WatchEvent{},
		// Annotations of autoscaling/v1 hold these.
		autoscalingv1.MetricSpec{}, autoscalingv1.MetricStatus{}, autoscalingv1.HorizontalPodAutoscalerCondition{},
	} {
		w.visit(reflect.TypeOf(extra))
	}
	sort.Slice(out.Kinds, func(i, j int) bool {
		a, b := out.Kinds[i], out.Kinds[j]
		return a.Group+"/"+a.Version+"/"+a.Kind < b.Group+"/"+b.Version+"/"+b.Kind
	})
	definitions := openapi.GetOpenAPIDefinitions(func(name string) spec.Ref {
		return spec.MustCreateRef("#/definitions/" + name)
	})
	for name, definition := range definitions {
		out.Definitions[name] = prose(definition)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(out); err != nil {
		panic(err)
	}
}

func prose(definition common.OpenAPIDefinition) json.RawMessage {
	bytes, err := json.Marshal(definition.Schema)
	if err != nil {
		panic(err)
	}
	var tree any
	if err := json.Unmarshal(bytes, &tree); err != nil {
		panic(err)
	}
	bytes, err = json.Marshal(withoutProse(tree, false))
	if err != nil {
		panic(err)
	}
	return bytes
}

// Command go-types prints, as JSON, the Go structs that Coxswain has to know beyond the API itself: internal types of
// kube-apiserver, which some of its messages print, and the configuration of kube-scheduler, which is a file.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	schedulerv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/apis/apps"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	"k8s.io/kubernetes/pkg/apis/batch"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/flowcontrol"
	"k8s.io/kubernetes/pkg/apis/networking"
	"k8s.io/kubernetes/pkg/apis/policy"
	"k8s.io/kubernetes/pkg/apis/rbac"
	"k8s.io/kubernetes/pkg/apis/resource"
	"k8s.io/kubernetes/pkg/apis/storage"
)

// printed are the internal types that messages print, each with the version whose JSON it is converted from.
var printed = [][2]any{
	{apiextensions.CustomResourceDefinitionVersion{}, apiextensionsv1.CustomResourceDefinitionVersion{}},
	{apiextensions.ValidationRule{}, apiextensionsv1.ValidationRule{}},
	{apps.DeploymentStrategy{}, appsv1.DeploymentStrategy{}},
	{apps.DaemonSetUpdateStrategy{}, appsv1.DaemonSetUpdateStrategy{}},
	{apps.StatefulSetUpdateStrategy{}, appsv1.StatefulSetUpdateStrategy{}},
	{autoscaling.HorizontalPodAutoscalerBehavior{}, autoscalingv2.HorizontalPodAutoscalerBehavior{}},
	{batch.PodFailurePolicy{}, batchv1.PodFailurePolicy{}},
	{batch.SuccessPolicy{}, batchv1.SuccessPolicy{}},
	{batch.UncountedTerminatedPods{}, batchv1.UncountedTerminatedPods{}},
	{core.EventSource{}, corev1.EventSource{}},
	{core.NodeAddress{}, corev1.NodeAddress{}},
	{core.NodeSpec{}, corev1.NodeSpec{}},
	{core.ObjectReference{}, corev1.ObjectReference{}},
	{core.PersistentVolumeClaimSpec{}, corev1.PersistentVolumeClaimSpec{}},
	{core.PersistentVolumeSpec{}, corev1.PersistentVolumeSpec{}},
	{core.PodIP{}, corev1.PodIP{}},
	{core.PodTemplateSpec{}, corev1.PodTemplateSpec{}},
	{core.ScopeSelector{}, corev1.ScopeSelector{}},
	{core.ServicePort{}, corev1.ServicePort{}},
	{flowcontrol.FlowSchemaSpec{}, flowcontrolv1.FlowSchemaSpec{}},
	{flowcontrol.PriorityLevelConfigurationSpec{}, flowcontrolv1.PriorityLevelConfigurationSpec{}},
	{networking.ParentReference{}, networkingv1.ParentReference{}},
	{networking.ServiceCIDRSpec{}, networkingv1.ServiceCIDRSpec{}},
	{policy.PodDisruptionBudgetSpec{}, policyv1.PodDisruptionBudgetSpec{}},
	{rbac.RoleRef{}, rbacv1.RoleRef{}},
	{resource.AllocationResult{}, resourcev1.AllocationResult{}},
	{resource.ResourceClaimTemplateSpec{}, resourcev1.ResourceClaimTemplateSpec{}},
	{storage.CSINodeDriver{}, storagev1.CSINodeDriver{}},
	{storage.VolumeAttachmentSpec{}, storagev1.VolumeAttachmentSpec{}},
}

// decoded are the types that kube-scheduler reads from its configuration file.
var decoded = []any{
	schedulerv1.KubeSchedulerConfiguration{},
	schedulerv1.DefaultPreemptionArgs{},
	schedulerv1.DynamicResourcesArgs{},
	schedulerv1.InterPodAffinityArgs{},
	schedulerv1.NodeAffinityArgs{},
	schedulerv1.NodeResourcesBalancedAllocationArgs{},
	schedulerv1.NodeResourcesFitArgs{},
	schedulerv1.PodTopologySpreadArgs{},
	schedulerv1.VolumeBindingArgs{},
}

// moved are internal types with fields that the version has in another struct.
var moved = map[reflect.Type]reflect.Type{
	reflect.TypeOf(core.PodSecurityContext{}): reflect.TypeOf(corev1.PodSpec{}),
}

type field struct {
	Go   string `json:"go"`
	JSON string `json:"json"`
	Type string `json:"type"`
	// Embedded fields are those of another struct, which JSON does not nest.
	Embedded bool `json:"embedded,omitempty"`
	// Optional fields are left out of JSON when they are empty.
	Optional bool `json:"optional,omitempty"`
}

// walker collects structs. Printed ones are internal types, whose JSON names come from a version; the others have their own.
type walker struct {
	types   map[string][]field
	printed bool
}

func nameOf(t reflect.Type) string {
	group := path.Base(t.PkgPath())
	if strings.HasPrefix(group, "v1") {
		group = path.Base(path.Dir(t.PkgPath()))
	}
	return group + "." + t.Name()
}

func isMarshaler(t reflect.Type) bool {
	_, ok := reflect.New(t).Interface().(json.Marshaler)
	return ok
}

// isOwnJSON tells structs that are not walked: those that marshal themselves, for printed ones also types of meta/v1 and
// the like, which have JSON names, and schemas, which differ from their JSON; for the others types of the API.
func (w walker) isOwnJSON(t reflect.Type) bool {
	if isMarshaler(t) {
		return true
	}
	if !w.printed {
		return strings.HasPrefix(t.PkgPath(), "k8s.io/api/")
	}
	if t == reflect.TypeOf(apiextensions.JSONSchemaProps{}) {
		return true
	}
	for i := range t.NumField() {
		if _, ok := t.Field(i).Tag.Lookup("json"); ok {
			return true
		}
	}
	return false
}

// expression writes a type: a basic one, `*T`, `[]T`, `{}T`, the name of a struct, or `=name` of one that is its own JSON.
func (w walker) expression(t, version reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + w.expression(t.Elem(), elemOf(version))
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + w.expression(t.Elem(), elemOf(version))
	case reflect.Map:
		return "{}" + w.expression(t.Elem(), elemOf(version))
	case reflect.Struct:
		if w.isOwnJSON(t) {
			return "=" + nameOf(t)
		}
		w.visit(t, version)
		return nameOf(t)
	case reflect.Interface:
		return "any"
	default:
		return t.Kind().String()
	}
}

func elemOf(t reflect.Type) reflect.Type {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return t.Elem()
	default:
		return t
	}
}

func (w walker) visit(t, version reflect.Type) {
	for version.Kind() == reflect.Pointer {
		version = version.Elem()
	}
	if _, known := w.types[nameOf(t)]; known {
		return
	}
	w.types[nameOf(t)] = nil
	fields := []field{}
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		same, ok := version.FieldByName(f.Name)
		if !ok && moved[t] != nil {
			same, ok = moved[t].FieldByName(f.Name)
		}
		if !ok {
			panic(fmt.Sprintf("%s has no field %s", version, f.Name))
		}
		parts := strings.Split(same.Tag.Get("json"), ",")
		one := field{Go: f.Name, JSON: parts[0], Embedded: f.Anonymous}
		for _, option := range parts[1:] {
			one.Optional = one.Optional || option == "omitempty"
		}
		one.Type = w.expression(f.Type, same.Type)
		fields = append(fields, one)
	}
	w.types[nameOf(t)] = fields
}

func main() {
	internal := walker{types: map[string][]field{}, printed: true}
	configuration := walker{types: map[string][]field{}}
	for _, pair := range printed {
		internal.visit(reflect.TypeOf(pair[0]), reflect.TypeOf(pair[1]))
	}
	for _, one := range decoded {
		configuration.visit(reflect.TypeOf(one), reflect.TypeOf(one))
	}
	encoder := json.NewEncoder(os.Stdout)
	if err := encoder.Encode(map[string]any{"printed": internal.types, "decoded": configuration.types}); err != nil {
		panic(err)
	}
}

package interop

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
)

const boatGroup = "go.sea.example.com"

var boats = schema.GroupVersionResource{Group: boatGroup, Version: "v1", Resource: "boats"}

// defineBoats installs a CRD once for all tests and waits until its objects are served.
func defineBoats(ctx context.Context, t *testing.T) {
	t.Helper()
	client := apiextensions.NewForConfigOrDie(config(t)).ApiextensionsV1().CustomResourceDefinitions()
	one, selector := float64(1), ".status.selector"
	definition := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "boats." + boatGroup},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: boatGroup,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "boats", Singular: "boat", Kind: "Boat", ListKind: "BoatList", ShortNames: []string{"gbt"}},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{
					Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
					Scale:  &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.masts", StatusReplicasPath: ".status.masts", LabelSelectorPath: &selector},
				},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object",
					Properties: map[string]apiextensionsv1.JSONSchemaProps{
						"spec": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
							"masts": {Type: "integer", Minimum: &one},
							"flag":  {Type: "string", Default: &apiextensionsv1.JSON{Raw: []byte(`"plain"`)}},
						}},
						"status": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
							"masts": {Type: "integer"}, "selector": {Type: "string"}, "seen": {Type: "string"},
						}},
					},
				}},
			}},
		},
	}
	if _, err := client.Create(ctx, definition, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	eventually(t, time.Minute, "boats are served", func() bool {
		_, err := dynamic.NewForConfigOrDie(config(t)).Resource(boats).List(ctx, metav1.ListOptions{})
		return err == nil
	})
}

func boat(name string, masts int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": boatGroup + "/v1", "kind": "Boat",
		"metadata": map[string]any{"name": name},
		"spec":     map[string]any{"masts": masts},
	}}
}

func TestDynamicClientWorksOnCustomResources(t *testing.T) {
	ctx, ns := within(t, 2*time.Minute), namespace(t)
	defineBoats(ctx, t)
	cfg := config(t)
	wire := record(cfg)
	client := dynamic.NewForConfigOrDie(cfg).Resource(boats).Namespace(ns)

	made, err := client.Create(ctx, boat("argo", 2), metav1.CreateOptions{})
	must(t, err)
	flag, _, _ := unstructured.NestedString(made.Object, "spec", "flag")
	equal(t, "a defaulted field", flag, "plain")
	if _, err := client.Create(ctx, boat("raft", 0), metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Fatalf("an object that its schema forbids: %v", err)
	}

	stream, err := client.Watch(ctx, metav1.ListOptions{ResourceVersion: made.GetResourceVersion()})
	must(t, err)
	defer stream.Stop()
	applied, err := client.Apply(ctx, "argo", boat("argo", 3), metav1.ApplyOptions{FieldManager: "mate", Force: true})
	must(t, err)
	equal(t, "generation", applied.GetGeneration(), 2)
	must(t, unstructured.SetNestedField(applied.Object, int64(1), "status", "masts"))
	after, err := client.UpdateStatus(ctx, applied, metav1.UpdateOptions{})
	must(t, err)
	equal(t, "generation after a write of the status", after.GetGeneration(), 2)
	_, err = client.Patch(ctx, "argo", types.MergePatchType, []byte(`{"metadata":{"finalizers":["go.sea.example.com/hold"]}}`), metav1.PatchOptions{})
	must(t, err)
	_, err = client.Patch(ctx, "argo", types.StrategicMergePatchType, []byte(`{}`), metav1.PatchOptions{})
	if !apierrors.IsUnsupportedMediaType(err) {
		t.Fatalf("a strategic patch of a custom resource: %v", err)
	}
	must(t, client.Delete(ctx, "argo", metav1.DeleteOptions{}))
	held, err := client.Get(ctx, "argo", metav1.GetOptions{})
	must(t, err)
	if held.GetDeletionTimestamp() == nil {
		t.Fatal("a deleted object with a finalizer has no deletion time")
	}
	_, err = client.Patch(ctx, "argo", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	must(t, err)
	kinds := []string{}
	for event := range stream.ResultChan() {
		kinds = append(kinds, string(event.Type))
		if event.Type == "DELETED" {
			break
		}
	}
	equal(t, "events", strings.Join(kinds, " "), "MODIFIED MODIFIED MODIFIED MODIFIED DELETED")
	for _, each := range wire.exchanges() {
		if !strings.HasPrefix(each.answered, "application/json") {
			t.Errorf("%s %s was answered with %q", each.method, each.path, each.answered)
		}
	}
}

func TestScaleClientFindsTheScaleOfAnyKind(t *testing.T) {
	ctx, ns := within(t, 2*time.Minute), namespace(t)
	defineBoats(ctx, t)
	client := dynamic.NewForConfigOrDie(config(t)).Resource(boats).Namespace(ns)
	_, err := client.Create(ctx, boat("argo", 2), metav1.CreateOptions{})
	must(t, err)
	_, err = clientset(t).AppsV1().Deployments(ns).Create(ctx, deployment("web", 3), metav1.CreateOptions{})
	must(t, err)

	discoverer := memory.NewMemCacheClient(discovery.NewDiscoveryClientForConfigOrDie(config(t)))
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(discoverer)
	scales, err := scale.NewForConfig(config(t), mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(discoverer))
	must(t, err)
	for resource, name := range map[schema.GroupResource]string{boats.GroupResource(): "argo", {Group: "apps", Resource: "deployments"}: "web"} {
		found, err := scales.Scales(ns).Get(ctx, resource, name, metav1.GetOptions{})
		must(t, err)
		found.Spec.Replicas = 7
		changed, err := scales.Scales(ns).Update(ctx, resource, found, metav1.UpdateOptions{})
		must(t, err)
		equal(t, "replicas of "+name, changed.Spec.Replicas, 7)
	}
	read, err := client.Get(ctx, "argo", metav1.GetOptions{})
	must(t, err)
	masts, _, _ := unstructured.NestedInt64(read.Object, "spec", "masts")
	equal(t, "masts", masts, 7)
}

func TestDiscoveryIsTheSameInBothForms(t *testing.T) {
	ctx := within(t, 2*time.Minute)
	defineBoats(ctx, t)
	aggregated := discovery.NewDiscoveryClientForConfigOrDie(config(t))
	legacy := discovery.NewDiscoveryClientForConfigOrDie(config(t))
	legacy.UseLegacyDiscovery = true
	var described [2][]string
	// The two are made from the definitions at different moments.
	eventually(t, time.Minute, "both forms name the same resources", func() bool {
		described = [2][]string{describe(t, aggregated), describe(t, legacy)}
		return slices.Equal(described[0], described[1])
	})
	for _, want := range []string{
		"v1 pods Pod true po create delete deletecollection get list patch update watch",
		"apps/v1 deployments Deployment true deploy create delete deletecollection get list patch update watch",
		boatGroup + "/v1 boats Boat true gbt delete deletecollection get list patch create update watch",
	} {
		parts := strings.Fields(want)
		if !slices.ContainsFunc(described[0], func(line string) bool {
			got := strings.Fields(line)
			return slices.Equal(got[:5], parts[:5]) && len(got) == len(parts)
		}) {
			t.Errorf("not described: %s", want)
		}
	}
	preferred, err := aggregated.ServerPreferredResources()
	must(t, err)
	groups := map[string]string{}
	for _, list := range preferred {
		version, _ := schema.ParseGroupVersion(list.GroupVersion)
		if len(list.APIResources) > 0 {
			groups[version.Group] = version.Version
		}
	}
	equal(t, "preferred version of autoscaling", groups["autoscaling"], "v2")
	version, err := aggregated.ServerVersion()
	must(t, err)
	equal(t, "minor version", strings.TrimSuffix(version.Minor, "+"), "36")
}

func describe(t *testing.T, client *discovery.DiscoveryClient) []string {
	t.Helper()
	_, lists, err := client.ServerGroupsAndResources()
	must(t, err)
	found := []string{}
	for _, list := range lists {
		for _, each := range list.APIResources {
			verbs := slices.Sorted(slices.Values(each.Verbs))
			namespaced := map[bool]string{true: "true", false: "false"}[each.Namespaced]
			found = append(found, strings.Join([]string{list.GroupVersion, each.Name, each.Kind, namespaced, strings.Join(each.ShortNames, ","), strings.Join(verbs, " ")}, " "))
		}
	}
	slices.Sort(found)
	return found
}

func TestOpenAPIIsReadableInBothVersions(t *testing.T) {
	ctx := within(t, 2*time.Minute)
	defineBoats(ctx, t)
	client := discovery.NewDiscoveryClientForConfigOrDie(config(t))
	document, err := client.OpenAPISchema()
	must(t, err)
	if len(document.GetDefinitions().GetAdditionalProperties()) < 300 {
		t.Fatalf("only %d definitions", len(document.GetDefinitions().GetAdditionalProperties()))
	}
	paths, err := client.OpenAPIV3().Paths()
	must(t, err)
	for _, path := range []string{"api/v1", "apis/apps/v1", "apis/" + boatGroup + "/v1"} {
		var bytes []byte
		eventually(t, time.Minute, "a schema at "+path, func() bool {
			group := paths[path]
			if group == nil {
				paths, err = client.OpenAPIV3().Paths()
				must(t, err)
				return false
			}
			bytes, err = group.Schema("application/json")
			return err == nil
		})
		if !strings.Contains(string(bytes), `"x-kubernetes-group-version-kind"`) {
			t.Errorf("%s names no kind", path)
		}
	}
	groups, err := restmapper.GetAPIGroupResources(client)
	must(t, err)
	mapping, err := restmapper.NewDiscoveryRESTMapper(groups).RESTMapping(schema.GroupKind{Group: boatGroup, Kind: "Boat"})
	must(t, err)
	equal(t, "resource of a Boat", mapping.Resource, boats)
}

package interop

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
)

func TestMetadataClientSeesTheMetadataOfEveryKind(t *testing.T) {
	ctx, ns := within(t, 2*time.Minute), namespace(t)
	defineBoats(ctx, t)
	controller := true
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "d9607e19-f88f-11e6-a518-42010a800195", Controller: &controller}
	meta := metav1.ObjectMeta{Name: "one", Labels: map[string]string{"a": "b"}, OwnerReferences: []metav1.OwnerReference{owner}, Finalizers: []string{"example.com/hold"}}
	_, err := clientset(t).CoreV1().ConfigMaps(ns).Create(ctx, &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"k": "v"}}, metav1.CreateOptions{})
	must(t, err)
	custom := boat("one", 1)
	custom.SetOwnerReferences(meta.OwnerReferences)
	custom.SetFinalizers(meta.Finalizers)
	custom.SetLabels(meta.Labels)
	_, err = dynamic.NewForConfigOrDie(config(t)).Resource(boats).Namespace(ns).Create(ctx, custom, metav1.CreateOptions{})
	must(t, err)

	for _, resource := range []schema.GroupVersionResource{configMaps, boats} {
		client := metadata.NewForConfigOrDie(config(t)).Resource(resource).Namespace(ns)
		list, err := client.List(ctx, metav1.ListOptions{LabelSelector: "a=b"})
		must(t, err)
		equal(t, resource.Resource+" listed", len(list.Items), 1)
		item := list.Items[0]
		equal(t, "owner", item.OwnerReferences[0].UID, owner.UID)
		equal(t, "finalizer", item.Finalizers[0], "example.com/hold")
		stream, err := client.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
		must(t, err)
		patched, err := client.Patch(ctx, "one", types.MergePatchType, []byte(`{"metadata":{"annotations":{"seen":"yes"}}}`), metav1.PatchOptions{})
		must(t, err)
		equal(t, "annotation", patched.Annotations["seen"], "yes")
		foreground := metav1.DeletePropagationForeground
		must(t, client.Delete(ctx, "one", metav1.DeleteOptions{PropagationPolicy: &foreground}))
		_, err = client.Patch(ctx, "one", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		must(t, err)
		last := ""
		for event := range stream.ResultChan() {
			object, ok := event.Object.(*metav1.PartialObjectMetadata)
			if !ok {
				t.Fatalf("%s: an event carries a %T", resource.Resource, event.Object)
			}
			equal(t, "name in an event", object.Name, "one")
			if last = string(event.Type); last == "DELETED" {
				break
			}
		}
		stream.Stop()
		equal(t, "last event", last, "DELETED")
	}
}

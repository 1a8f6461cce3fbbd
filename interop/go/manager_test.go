package interop

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const boatFinalizer = boatGroup + "/crew"

// boatyard gives every Boat a Deployment of as many replicas as it has masts, and tells in its status that it has seen it.
type boatyard struct{ client.Client }

func (s *boatyard) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	boat := newBoat()
	if err := s.Get(ctx, request.NamespacedName, boat); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !boat.GetDeletionTimestamp().IsZero() {
		controllerutil.RemoveFinalizer(boat, boatFinalizer)
		return reconcile.Result{}, client.IgnoreNotFound(s.Update(ctx, boat))
	}
	if controllerutil.AddFinalizer(boat, boatFinalizer) {
		if err := s.Update(ctx, boat); err != nil {
			return reconcile.Result{}, err
		}
	}
	masts, _, _ := unstructured.NestedInt64(boat.Object, "spec", "masts")
	replicas := int32(masts)
	wanted := deployment(boat.GetName(), replicas)
	wanted.Namespace = boat.GetNamespace()
	if _, err := controllerutil.CreateOrUpdate(ctx, s.Client, wanted, func() error {
		wanted.Spec.Replicas = &replicas
		return controllerutil.SetControllerReference(boat, wanted, s.Scheme())
	}); err != nil {
		return reconcile.Result{}, err
	}
	before := boat.DeepCopy()
	if err := unstructured.SetNestedField(boat.Object, fmt.Sprint(masts), "status", "seen"); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, s.Status().Patch(ctx, boat, client.MergeFrom(before))
}

func newBoat() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(boats.GroupVersion().WithKind("Boat"))
	return object
}

// startManager runs a manager that leads, with the boatyard in it, until the test ends.
func startManager(ctx context.Context, t *testing.T, ns string) (manager.Manager, *recorder) {
	t.Helper()
	log.SetLogger(logr.Discard())
	cfg := config(t)
	wire := record(cfg)
	scheme := runtime.NewScheme()
	must(t, clientscheme.AddToScheme(scheme))
	m, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:                        scheme,
		Metrics:                       server.Options{BindAddress: "0"},
		Cache:                         cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}},
		LeaderElection:                true,
		LeaderElectionID:              "boatyard",
		LeaderElectionNamespace:       ns,
		LeaderElectionReleaseOnCancel: true,
	})
	must(t, err)
	must(t, m.GetFieldIndexer().IndexField(ctx, &appsv1.Deployment{}, "image", func(object client.Object) []string {
		return []string{object.(*appsv1.Deployment).Spec.Template.Spec.Containers[0].Image}
	}))
	must(t, ctrl.NewControllerManagedBy(m).Named("boats-"+ns).For(newBoat()).Owns(&appsv1.Deployment{}).Complete(&boatyard{m.GetClient()}))
	ctx, stop := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- m.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("the manager ended with %v", err)
		}
	})
	return m, wire
}

func TestManagerRunsAController(t *testing.T) {
	ctx, ns := within(t, 2*time.Minute), namespace(t)
	defineBoats(ctx, t)
	m, wire := startManager(ctx, t, ns)
	direct, err := client.New(config(t), client.Options{Scheme: m.GetScheme()})
	must(t, err)

	argo := boat("argo", 2)
	argo.SetNamespace(ns)
	must(t, direct.Create(ctx, argo))
	key := client.ObjectKeyFromObject(argo)
	seen := func(want string) func() bool {
		return func() bool {
			must(t, direct.Get(ctx, key, argo))
			got, _, _ := unstructured.NestedString(argo.Object, "status", "seen")
			return got == want
		}
	}
	eventually(t, time.Minute, "a status", seen("2"))

	must(t, unstructured.SetNestedField(argo.Object, int64(5), "spec", "masts"))
	must(t, direct.Update(ctx, argo))
	eventually(t, time.Minute, "a status after a change", seen("5"))
	owned := &appsv1.Deployment{}
	must(t, direct.Get(ctx, key, owned))
	equal(t, "replicas", *owned.Spec.Replicas, 5)
	equal(t, "owner", owned.OwnerReferences[0].UID, argo.GetUID())

	// What is owned is made again when somebody takes it away.
	must(t, direct.Delete(ctx, owned))
	eventually(t, time.Minute, "another deployment", func() bool {
		again := &appsv1.Deployment{}
		err := direct.Get(ctx, key, again)
		return err == nil && again.UID != owned.UID
	})
	list := &appsv1.DeploymentList{}
	eventually(t, time.Minute, "a read from the cache by index", func() bool {
		must(t, m.GetClient().List(ctx, list, client.InNamespace(ns), client.MatchingFields{"image": "nginx:1.27"}))
		return len(list.Items) == 1
	})

	must(t, direct.Delete(ctx, argo))
	eventually(t, time.Minute, "the boat is gone once its finalizer is", func() bool {
		return apierrors.IsNotFound(direct.Get(ctx, key, argo))
	})
	sent := map[string]bool{}
	for _, each := range wire.exchanges() {
		if strings.Contains(each.path, "/deployments") && each.sent != "" {
			sent[each.sent] = true
		}
	}
	if !sent[protobuf] {
		t.Errorf("content types sent for deployments: %v", sent)
	}
}

func TestControllerRuntimeAppliesAndDeletes(t *testing.T) {
	ctx, ns := within(t, 2*time.Minute), namespace(t)
	c, err := client.New(config(t), client.Options{})
	must(t, err)
	apply := coreapply.ConfigMap("chart", ns).WithData(map[string]string{"depth": "10"})
	must(t, c.Apply(ctx, apply, client.FieldOwner("pilot")))
	conflict := c.Apply(ctx, coreapply.ConfigMap("chart", ns).WithData(map[string]string{"depth": "20"}), client.FieldOwner("mate"))
	if !apierrors.IsConflict(conflict) {
		t.Fatalf("a conflict of managers: %v", conflict)
	}
	must(t, c.Apply(ctx, coreapply.ConfigMap("chart", ns).WithData(map[string]string{"depth": "20"}), client.FieldOwner("mate"), client.ForceOwnership))
	chart := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "chart", Namespace: ns}}
	must(t, c.Get(ctx, client.ObjectKeyFromObject(chart), chart))
	equal(t, "depth", chart.Data["depth"], "20")
	equal(t, "managers", len(chart.ManagedFields), 1)

	meta := &metav1.PartialObjectMetadata{}
	meta.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	must(t, c.Get(ctx, client.ObjectKeyFromObject(chart), meta))
	equal(t, "uid in the metadata", meta.UID, chart.UID)
	before := chart.DeepCopy()
	chart.Data["scale"] = "1"
	must(t, c.Patch(ctx, chart, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
	stale := before.DeepCopy()
	stale.Data["scale"] = "2"
	if err := c.Patch(ctx, stale, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); !apierrors.IsConflict(err) {
		t.Fatalf("a stale patch with a lock: %v", err)
	}
	must(t, c.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(ns)))
	list := &corev1.ConfigMapList{}
	must(t, c.List(ctx, list, client.InNamespace(ns)))
	equal(t, "what is left", len(list.Items), 0)
}

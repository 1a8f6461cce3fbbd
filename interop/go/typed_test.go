package interop

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
)

const protobuf = "application/vnd.kubernetes.protobuf"

func podTemplate() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name:  "main",
				Image: "nginx:1.27",
				Ports: []corev1.ContainerPort{{ContainerPort: 80}},
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi"), corev1.ResourceCPU: resource.MustParse("250m")},
				},
			}},
		},
	}
}

func deployment(name string, replicas int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: podTemplate(),
		},
	}
}

func TestTypedClientSpeaksProtobufByDefault(t *testing.T) {
	ctx, ns := within(t, 2*time.Minute), namespace(t)
	cfg := config(t)
	wire := record(cfg)
	deployments := kubernetes.NewForConfigOrDie(cfg).AppsV1().Deployments(ns)

	made, err := deployments.Create(ctx, deployment("web", 2), metav1.CreateOptions{})
	must(t, err)
	if made.UID == "" || made.ResourceVersion == "" || made.CreationTimestamp.IsZero() {
		t.Fatalf("metadata: %+v", made.ObjectMeta)
	}
	equal(t, "generation", made.Generation, 1)
	equal(t, "strategy", made.Spec.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	equal(t, "surge", made.Spec.Strategy.RollingUpdate.MaxSurge.String(), "25%")
	equal(t, "pull policy", made.Spec.Template.Spec.Containers[0].ImagePullPolicy, corev1.PullIfNotPresent)
	memory := made.Spec.Template.Spec.Containers[0].Resources.Requests[corev1.ResourceMemory]
	equal(t, "memory", memory.String(), "64Mi")

	read, err := deployments.Get(ctx, "web", metav1.GetOptions{})
	must(t, err)
	equal(t, "the object read", read.ResourceVersion, made.ResourceVersion)
	list, err := deployments.List(ctx, metav1.ListOptions{})
	must(t, err)
	equal(t, "items", len(list.Items), 1)
	must(t, deployments.Delete(ctx, "web", metav1.DeleteOptions{}))

	for _, each := range wire.exchanges() {
		if !strings.HasPrefix(each.accepted, protobuf) {
			t.Errorf("%s %s accepted %q", each.method, each.path, each.accepted)
		}
		if each.method == "POST" && each.sent != protobuf {
			t.Errorf("POST %s sent %q", each.path, each.sent)
		}
	}
}

func TestTypedClientUpdatesWithOptimisticConcurrency(t *testing.T) {
	ctx, ns := within(t, 2*time.Minute), namespace(t)
	deployments := clientset(t).AppsV1().Deployments(ns)
	made, err := deployments.Create(ctx, deployment("web", 1), metav1.CreateOptions{})
	must(t, err)
	_, err = deployments.Create(ctx, deployment("web", 1), metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		t.Fatalf("a second create: %v", err)
	}

	stale := made.DeepCopy()
	made.Spec.Template.Spec.Containers[0].Image = "nginx:1.28"
	updated, err := deployments.Update(ctx, made, metav1.UpdateOptions{})
	must(t, err)
	equal(t, "generation", updated.Generation, 2)
	_, err = deployments.Update(ctx, stale, metav1.UpdateOptions{})
	if !apierrors.IsConflict(err) {
		t.Fatalf("a stale update: %v", err)
	}
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		latest, err := deployments.Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		latest.Labels = map[string]string{"tier": "front"}
		_, err = deployments.Update(ctx, latest, metav1.UpdateOptions{})
		return err
	})
	must(t, err)

	same, err := deployments.Get(ctx, "web", metav1.GetOptions{})
	must(t, err)
	again, err := deployments.Update(ctx, same, metav1.UpdateOptions{})
	must(t, err)
	equal(t, "an update without a change keeps the version", again.ResourceVersion, same.ResourceVersion)

	same.Spec.Selector.MatchLabels["app"] = "other"
	_, err = deployments.Update(ctx, same, metav1.UpdateOptions{})
	if !apierrors.IsInvalid(err) {
		t.Fatalf("a change of an immutable field: %v", err)
	}
	_, err = deployments.Get(ctx, "nothing", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		t.Fatalf("a missing object: %v", err)
	}
}

func TestTypedClientKeepsStatusAndSpecApart(t *testing.T) {
	ctx, ns := within(t, 2*time.Minute), namespace(t)
	deployments := clientset(t).AppsV1().Deployments(ns)
	made, err := deployments.Create(ctx, deployment("web", 1), metav1.CreateOptions{})
	must(t, err)
	made.Status.ObservedGeneration, made.Status.Replicas = 1, 1
	made.Spec.Paused = true
	after, err := deployments.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	must(t, err)
	equal(t, "paused", after.Spec.Paused, false)
	equal(t, "replicas in the status", after.Status.Replicas, 1)
	equal(t, "generation", after.Generation, 1)
	after.Status.Replicas = 7
	after.Spec.Paused = true
	after, err = deployments.Update(ctx, after, metav1.UpdateOptions{})
	must(t, err)
	equal(t, "paused", after.Spec.Paused, true)
	equal(t, "replicas in the status", after.Status.Replicas, 1)

	scale, err := deployments.GetScale(ctx, "web", metav1.GetOptions{})
	must(t, err)
	equal(t, "selector of the scale", scale.Status.Selector, "app=web")
	_, err = deployments.UpdateScale(ctx, "web", &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: ns},
		Spec:       autoscalingv1.ScaleSpec{Replicas: 5},
	}, metav1.UpdateOptions{})
	must(t, err)
	after, err = deployments.Get(ctx, "web", metav1.GetOptions{})
	must(t, err)
	equal(t, "replicas after scaling", *after.Spec.Replicas, 5)
}

func TestTypedClientPatchesAndApplies(t *testing.T) {
	ctx, ns := within(t, 2*time.Minute), namespace(t)
	deployments := clientset(t).AppsV1().Deployments(ns)
	_, err := deployments.Create(ctx, deployment("web", 1), metav1.CreateOptions{})
	must(t, err)
	patches := map[types.PatchType]string{
		types.StrategicMergePatchType: `{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"busybox"}]}}}}`,
		types.MergePatchType:          `{"metadata":{"labels":{"merged":"yes"}}}`,
		types.JSONPatchType:           `[{"op":"add","path":"/spec/paused","value":true}]`,
	}
	for kind, patch := range patches {
		_, err := deployments.Patch(ctx, "web", kind, []byte(patch), metav1.PatchOptions{FieldManager: "patcher"})
		must(t, err)
	}
	after, err := deployments.Get(ctx, "web", metav1.GetOptions{})
	must(t, err)
	equal(t, "containers", len(after.Spec.Template.Spec.Containers), 2)
	equal(t, "label", after.Labels["merged"], "yes")
	equal(t, "paused", after.Spec.Paused, true)

	configMaps := clientset(t).CoreV1().ConfigMaps(ns)
	apply := func(manager, key, value string, force bool) error {
		_, err := configMaps.Apply(ctx, coreapply.ConfigMap("shared", ns).WithData(map[string]string{key: value}),
			metav1.ApplyOptions{FieldManager: manager, Force: force})
		return err
	}
	must(t, apply("one", "a", "1", false))
	must(t, apply("two", "b", "2", false))
	if err := apply("two", "a", "2", false); !apierrors.IsConflict(err) {
		t.Fatalf("a conflict of managers: %v", err)
	}
	must(t, apply("two", "a", "2", true))
	// The second manager no longer says anything about b, and nobody else does.
	shared, err := configMaps.Get(ctx, "shared", metav1.GetOptions{})
	must(t, err)
	if len(shared.Data) != 1 || shared.Data["a"] != "2" {
		t.Fatalf("data: %v", shared.Data)
	}
	extracted, err := coreapply.ExtractConfigMap(shared, "two")
	must(t, err)
	equal(t, "fields of the second manager", extracted.Data["a"], "2")

	applied, err := deployments.Apply(ctx, appsapply.Deployment("applied", ns).WithSpec(appsapply.DeploymentSpec().
		WithSelector(metaapply.LabelSelector().WithMatchLabels(map[string]string{"app": "web"})).
		WithTemplate(coreapply.PodTemplateSpec().WithLabels(map[string]string{"app": "web"}).
			WithSpec(coreapply.PodSpec().WithContainers(coreapply.Container().WithName("main").WithImage("nginx"))))),
		metav1.ApplyOptions{FieldManager: "one"})
	must(t, err)
	equal(t, "replicas", *applied.Spec.Replicas, 1)
}

func TestTypedClientListsInPagesAndBySelector(t *testing.T) {
	ctx, ns := within(t, 2*time.Minute), namespace(t)
	configMaps := clientset(t).CoreV1().ConfigMaps(ns)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		_, err := configMaps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"odd": map[bool]string{true: "yes", false: "no"}[name == "a" || name == "c" || name == "e"]}}}, metav1.CreateOptions{})
		must(t, err)
	}
	first, err := configMaps.List(ctx, metav1.ListOptions{Limit: 2})
	must(t, err)
	equal(t, "remaining", *first.RemainingItemCount, 3)
	must(t, configMaps.Delete(ctx, "e", metav1.DeleteOptions{}))
	names := ""
	for page := first; ; {
		for _, item := range page.Items {
			names += item.Name
		}
		equal(t, "version of a page", page.ResourceVersion, first.ResourceVersion)
		if page.Continue == "" {
			break
		}
		page, err = configMaps.List(ctx, metav1.ListOptions{Limit: 2, Continue: page.Continue})
		must(t, err)
	}
	equal(t, "what all pages hold, as it was at the first", names, "abcde")

	chosen, err := configMaps.List(ctx, metav1.ListOptions{LabelSelector: "odd in (yes),odd!=no"})
	must(t, err)
	equal(t, "chosen by label", len(chosen.Items), 2)
	chosen, err = configMaps.List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=b"})
	must(t, err)
	equal(t, "chosen by field", len(chosen.Items), 1)
	must(t, configMaps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "odd=yes"}))
	rest, err := configMaps.List(ctx, metav1.ListOptions{})
	must(t, err)
	equal(t, "what is left", len(rest.Items), 2)
	_, err = configMaps.List(ctx, metav1.ListOptions{FieldSelector: "data.x=1"})
	if !apierrors.IsBadRequest(err) {
		t.Fatalf("an unknown field selector: %v", err)
	}
}

func TestTypedClientWatchesTransitionsOfASelector(t *testing.T) {
	ctx, ns := within(t, 2*time.Minute), namespace(t)
	secrets := clientset(t).CoreV1().Secrets(ns)
	stream, err := secrets.Watch(ctx, metav1.ListOptions{LabelSelector: "watched=yes"})
	must(t, err)
	defer stream.Stop()
	made, err := secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, StringData: map[string]string{"k": "v"}}, metav1.CreateOptions{})
	must(t, err)
	equal(t, "string data", string(made.Data["k"]), "v")
	label := func(value string) {
		_, err := secrets.Patch(ctx, "s", types.MergePatchType, []byte(`{"metadata":{"labels":{"watched":"`+value+`"}}}`), metav1.PatchOptions{})
		must(t, err)
	}
	label("yes")
	label("no")
	label("yes")
	must(t, secrets.Delete(ctx, "s", metav1.DeleteOptions{}))
	for _, want := range []watch.EventType{watch.Added, watch.Deleted, watch.Added, watch.Deleted} {
		event := <-stream.ResultChan()
		equal(t, "event", event.Type, want)
		equal(t, "object", event.Object.(*corev1.Secret).Name, "s")
	}
}

func TestTypedClientBindsAndEvictsPods(t *testing.T) {
	ctx, ns := within(t, 2*time.Minute), namespace(t)
	core := clientset(t).CoreV1()
	// Without controllers nobody makes the account; with them somebody else may be first.
	_, err := core.ServiceAccounts(ns).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	pod, err := core.Pods(ns).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{"app": "web"}}, Spec: podTemplate().Spec}, metav1.CreateOptions{})
	must(t, err)
	equal(t, "quality of service", pod.Status.QOSClass, corev1.PodQOSBurstable)
	must(t, core.Pods(ns).Bind(ctx, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Target: corev1.ObjectReference{Kind: "Node", Name: "some-node"}}, metav1.CreateOptions{}))
	pods, err := core.Pods(ns).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=some-node"})
	must(t, err)
	equal(t, "pods on the node", len(pods.Items), 1)

	one := intstr.FromInt32(1)
	budget, err := clientset(t).PolicyV1().PodDisruptionBudgets(ns).Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "guard"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}, metav1.CreateOptions{})
	must(t, err)
	// As a controller would: a budget that nobody has looked at yet makes the client wait and try again.
	budget.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: budget.Generation, DesiredHealthy: 1, CurrentHealthy: 1, ExpectedPods: 1}
	_, err = clientset(t).PolicyV1().PodDisruptionBudgets(ns).UpdateStatus(ctx, budget, metav1.UpdateOptions{})
	must(t, err)
	// A pod that is not ready may go; one that is ready is what the budget protects.
	pod = &pods.Items[0]
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
	_, err = core.Pods(ns).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	must(t, err)
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: ns}}
	err = core.Pods(ns).EvictV1(ctx, eviction)
	if !apierrors.IsTooManyRequests(err) {
		t.Fatalf("an eviction against the budget: %v", err)
	}
	must(t, clientset(t).PolicyV1().PodDisruptionBudgets(ns).Delete(ctx, "guard", metav1.DeleteOptions{}))
	eventually(t, time.Minute, "an eviction without a budget", func() bool { return core.Pods(ns).EvictV1(ctx, eviction) == nil })
	gone, err := core.Pods(ns).Get(ctx, "p", metav1.GetOptions{})
	must(t, err)
	if gone.DeletionTimestamp == nil {
		t.Fatal("an evicted pod on a node waits for its node")
	}
}

func TestTypedClientKeepsExactNumbersAndTimes(t *testing.T) {
	ctx, ns := within(t, 2*time.Minute), namespace(t)
	leases := clientset(t).CoordinationV1().Leases(ns)
	now := metav1.NewMicroTime(time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.UTC))
	seconds := int32(15)
	_, err := leases.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "l"}, Spec: coordinationv1.LeaseSpec{RenewTime: &now, LeaseDurationSeconds: &seconds}}, metav1.CreateOptions{})
	must(t, err)
	lease, err := leases.Get(ctx, "l", metav1.GetOptions{})
	must(t, err)
	if !lease.Spec.RenewTime.Equal(&now) {
		t.Fatalf("micro time: %v", lease.Spec.RenewTime)
	}
	grace := int64(1) << 60
	pod := deployment("big", 1)
	pod.Spec.Template.Spec.TerminationGracePeriodSeconds = &grace
	made, err := clientset(t).AppsV1().Deployments(ns).Create(ctx, pod, metav1.CreateOptions{})
	must(t, err)
	equal(t, "a number beyond 2^53", *made.Spec.Template.Spec.TerminationGracePeriodSeconds, grace)
}

func TestTypedClientMakesNothingInADryRun(t *testing.T) {
	ctx, ns := within(t, 2*time.Minute), namespace(t)
	services := clientset(t).CoreV1().Services(ns)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	made, err := services.Create(ctx, service, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	must(t, err)
	equal(t, "target port", made.Spec.Ports[0].TargetPort.IntValue(), 80)
	_, err = services.Get(ctx, "s", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		t.Fatalf("after a dry run: %v", err)
	}
	made, err = services.Create(ctx, service, metav1.CreateOptions{})
	must(t, err)
	if made.Spec.ClusterIP == "" || made.Spec.ClusterIPs[0] != made.Spec.ClusterIP {
		t.Fatalf("cluster IP: %v", made.Spec)
	}
	uid := types.UID("another")
	err = services.Delete(ctx, "s", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if !apierrors.IsConflict(err) {
		t.Fatalf("a delete with the uid of another object: %v", err)
	}
}

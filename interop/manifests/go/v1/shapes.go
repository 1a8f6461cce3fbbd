package v1

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

type Text struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              TextSpec `json:"spec"`
}

type TextSpec struct {
	Plain string `json:"plain"`
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Bounded string `json:"bounded"`
	// +kubebuilder:validation:Pattern=`^[a-z]+$`
	// +optional
	Pattern string `json:"pattern,omitempty"`
	// +kubebuilder:validation:Format=hostname
	// +optional
	Format string `json:"format,omitempty"`
}

type Numbers struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              NumbersSpec `json:"spec"`
}

type NumbersSpec struct {
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	Small int32 `json:"small"`
	Large int64 `json:"large"`
	// +kubebuilder:validation:MultipleOf=2
	// +optional
	Even int32 `json:"even,omitempty"`
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:ExclusiveMinimum=true
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:validation:ExclusiveMaximum=true
	// +optional
	Inside int32 `json:"inside,omitempty"`
	// +optional
	Ratio float64 `json:"ratio,omitempty"`
}

type Enums struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              EnumsSpec `json:"spec"`
}

type EnumsSpec struct {
	// +kubebuilder:validation:Enum=Fast;Safe
	Mode string `json:"mode"`
	// +kubebuilder:validation:Enum=1;2;3
	// +optional
	Level int32 `json:"level,omitempty"`
	// +kubebuilder:default="Keep"
	// +kubebuilder:validation:Enum=Keep;Drop
	// +optional
	Policy string `json:"policy,omitempty"`
}

type Times struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              TimesSpec `json:"spec"`
}

type TimesSpec struct {
	At metav1.Time `json:"at"`
	// +optional
	Precise metav1.MicroTime `json:"precise,omitempty"`
	// +kubebuilder:validation:Format=duration
	// +optional
	Every string `json:"every,omitempty"`
	// +kubebuilder:validation:Format=date
	// +optional
	On string `json:"on,omitempty"`
}

type Flags struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              FlagsSpec `json:"spec"`
}

type FlagsSpec struct {
	Enabled bool `json:"enabled"`
	// +kubebuilder:default=false
	// +optional
	Verbose bool `json:"verbose,omitempty"`
	// +optional
	Data []byte `json:"data,omitempty"`
}

type Quantities struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              QuantitiesSpec `json:"spec"`
}

type QuantitiesSpec struct {
	Size resource.Quantity `json:"size"`
	// +optional
	Surge intstr.IntOrString `json:"surge,omitempty"`
	// +optional
	Limits corev1.ResourceList `json:"limits,omitempty"`
}

type Nullables struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              NullablesSpec `json:"spec"`
}

type NullablesSpec struct {
	// +nullable
	Text *string `json:"text"`
	// +nullable
	// +optional
	Count *int32 `json:"count,omitempty"`
}

type Defaults struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              DefaultsSpec `json:"spec"`
}

type DefaultsSpec struct {
	// +kubebuilder:default="main"
	// +optional
	Name string `json:"name,omitempty"`
	// +kubebuilder:default=3
	// +optional
	Count int32 `json:"count,omitempty"`
	// +kubebuilder:default=0.5
	// +optional
	Ratio float64 `json:"ratio,omitempty"`
	// +kubebuilder:default=true
	// +optional
	On bool `json:"on,omitempty"`
}

type Documented struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              DocumentedSpec `json:"spec"`
}

type DocumentedSpec struct {
	// +kubebuilder:title="The name"
	// +kubebuilder:example="left-pad"
	Name string `json:"name"`
	// +kubebuilder:externalDocs:url="https://example.com/docs",description="more"
	// +optional
	Link string `json:"link,omitempty"`
}

type Immutables struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ImmutablesSpec `json:"spec"`
}

type ImmutablesSpec struct {
	// +k8s:immutable
	Zone string `json:"zone"`
	// +k8s:immutable
	// +optional
	Size int32 `json:"size,omitempty"`
}

type AtomicLists struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              AtomicListsSpec `json:"spec"`
}

type AtomicListsSpec struct {
	// +listType=atomic
	Names []string `json:"names"`
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +optional
	Items []ListItem `json:"items,omitempty"`
}

type Sets struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              SetsSpec `json:"spec"`
}

type SetsSpec struct {
	// +listType=set
	// +kubebuilder:validation:items:MaxLength=20
	Tags []string `json:"tags"`
	// +listType=set
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:MaxItems=10
	// +optional
	Ports []int32 `json:"ports,omitempty"`
}

type PortItem struct {
	Port int32 `json:"port"`
	// +kubebuilder:default="TCP"
	// +kubebuilder:validation:Enum=TCP;UDP
	// +optional
	Protocol string `json:"protocol,omitempty"`
	// +optional
	Name string `json:"name,omitempty"`
}

type ListMaps struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ListMapsSpec `json:"spec"`
}

type ListMapsSpec struct {
	// +listType=map
	// +listMapKey=name
	Items []ListItem `json:"items"`
	// +listType=map
	// +listMapKey=port
	// +listMapKey=protocol
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Ports []PortItem `json:"ports,omitempty"`
}

type Maps struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              MapsSpec `json:"spec"`
}

type MapsSpec struct {
	Labels map[string]string `json:"labels"`
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=5
	// +optional
	Limits map[string]int32 `json:"limits,omitempty"`
	// +optional
	Items map[string]ListItem `json:"items,omitempty"`
}

type MapTypes struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              MapTypesSpec `json:"spec"`
}

type MapTypesSpec struct {
	// +mapType=atomic
	// +optional
	Whole map[string]string `json:"whole,omitempty"`
	// +mapType=granular
	// +optional
	Merged map[string]string `json:"merged,omitempty"`
	// +structType=atomic
	// +optional
	Together ListItem `json:"together,omitempty"`
}

type NestedLeaf struct {
	Value string `json:"value"`
}

type NestedInner struct {
	// +listType=atomic
	Deep []NestedLeaf `json:"deep"`
}

type NestedOuter struct {
	Inner NestedInner `json:"inner"`
}

type Nested struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              NestedSpec `json:"spec"`
}

type NestedSpec struct {
	Outer NestedOuter `json:"outer"`
}

type FieldRules struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              FieldRulesSpec `json:"spec"`
}

// +kubebuilder:validation:XValidation:rule="self.low <= self.high",message="low must not exceed high",fieldPath=".low",reason=FieldValueForbidden
type FieldRulesSpec struct {
	Low int32 `json:"low"`
	// +kubebuilder:validation:XValidation:rule="self < 1000",message="too high"
	High int32 `json:"high"`
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.startsWith('x')",messageExpression="'not x but ' + self"
	// +optional
	Name string `json:"name,omitempty"`
}

type Transitions struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              TransitionsSpec `json:"spec"`
}

type TransitionsSpec struct {
	// +kubebuilder:validation:XValidation:rule="self >= oldSelf",message="never goes back"
	Version int32 `json:"version"`
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="!oldSelf.hasValue() || self == oldSelf.value()",optionalOldSelf=true,message="set once"
	// +optional
	Phase string `json:"phase,omitempty"`
}

type ItemRules struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ItemRulesSpec `json:"spec"`
}

type ItemRulesSpec struct {
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MaxLength=100
	// +kubebuilder:validation:items:XValidation:rule="self.contains('.')",message="needs a dot"
	Hosts []string `json:"hosts"`
	// +kubebuilder:validation:MaxProperties=4
	// +optional
	Sizes map[string]SmallInt `json:"sizes,omitempty"`
}

// +kubebuilder:validation:Maximum=9
// +kubebuilder:validation:XValidation:rule="self != 7"
type SmallInt int32

// +kubebuilder:validation:XValidation:rule="self.metadata.name.startsWith('r-') || self.spec.size > 0",message="named r- or sized"
type RootRules struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              RootRulesSpec `json:"spec"`
}

type RootRulesSpec struct {
	Size int32 `json:"size"`
}

type Reasons struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ReasonsSpec `json:"spec"`
}

type ReasonsSpec struct {
	// +kubebuilder:validation:MaxLength=9
	// +kubebuilder:validation:XValidation:rule="self != ''",reason=FieldValueRequired,message="is required"
	// +optional
	A string `json:"a,omitempty"`
	// +kubebuilder:validation:MaxLength=9
	// +kubebuilder:validation:XValidation:rule="self != 'dup'",reason=FieldValueDuplicate
	// +optional
	B string `json:"b,omitempty"`
}

type ExactlyOne struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ExactlyOneSpec `json:"spec"`
}

// +kubebuilder:validation:ExactlyOneOf=a;b
type ExactlyOneSpec struct {
	// +optional
	A string `json:"a,omitempty"`
	// +optional
	B string `json:"b,omitempty"`
	// +optional
	C string `json:"c,omitempty"`
}

type AtMostOne struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              AtMostOneSpec `json:"spec"`
}

// +kubebuilder:validation:AtMostOneOf=a;b;c
type AtMostOneSpec struct {
	// +optional
	A string `json:"a,omitempty"`
	// +optional
	B string `json:"b,omitempty"`
	// +optional
	C string `json:"c,omitempty"`
	D string `json:"d"`
}

type AtLeastOne struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              AtLeastOneSpec `json:"spec"`
}

// +kubebuilder:validation:AtLeastOneOf=b;c
type AtLeastOneSpec struct {
	// +optional
	A string `json:"a,omitempty"`
	// +optional
	B string `json:"b,omitempty"`
	// +optional
	C string `json:"c,omitempty"`
}

type UnionHTTP struct {
	// +kubebuilder:validation:Format=uri
	Url string `json:"url"`
}

type UnionExec struct {
	// +listType=atomic
	Command []string `json:"command"`
}

// +kubebuilder:validation:ExactlyOneOf=http;exec
type UnionSource struct {
	// +optional
	Http UnionHTTP `json:"http,omitempty"`
	// +optional
	Exec UnionExec `json:"exec,omitempty"`
}

type Unions struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              UnionsSpec `json:"spec"`
}

type UnionsSpec struct {
	Source UnionSource `json:"source"`
}

type Templates struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              TemplatesSpec `json:"spec"`
}

type TemplatesSpec struct {
	Template corev1.PodTemplateSpec `json:"template"`
}

type Jobs struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              JobsSpec `json:"spec"`
}

type JobsSpec struct {
	JobTemplate batchv1.JobTemplateSpec `json:"jobTemplate"`
}

type Containers struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ContainersSpec `json:"spec"`
}

type ContainersSpec struct {
	// +listType=map
	// +listMapKey=name
	Containers []corev1.Container `json:"containers"`
}

type Selectors struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              SelectorsSpec `json:"spec"`
}

type SelectorsSpec struct {
	Selector metav1.LabelSelector `json:"selector"`
	// +optional
	Secret corev1.SecretKeySelector `json:"secret,omitempty"`
	// +optional
	Ref corev1.LocalObjectReference `json:"ref,omitempty"`
}

type References struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ReferencesSpec `json:"spec"`
}

type ReferencesSpec struct {
	Target corev1.ObjectReference `json:"target"`
	// +optional
	Typed corev1.TypedLocalObjectReference `json:"typed,omitempty"`
}

type Placement struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              PlacementSpec `json:"spec"`
}

type PlacementSpec struct {
	// +optional
	Affinity corev1.Affinity `json:"affinity,omitempty"`
	// +listType=atomic
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
}

type Volumes struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              VolumesSpec `json:"spec"`
}

type VolumesSpec struct {
	// +listType=map
	// +listMapKey=name
	Volumes []corev1.Volume `json:"volumes"`
	// +optional
	Claim corev1.PersistentVolumeClaimSpec `json:"claim,omitempty"`
}

type EmbeddedAny struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              EmbeddedAnySpec `json:"spec"`
}

type EmbeddedAnySpec struct {
	// +kubebuilder:validation:EmbeddedResource
	// +kubebuilder:pruning:PreserveUnknownFields
	Object runtime.RawExtension `json:"object"`
}

type MetaTemplate struct {
	// +optional
	Metadata metav1.ObjectMeta `json:"metadata,omitempty"`
}

type Metas struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              MetasSpec `json:"spec"`
}

type MetasSpec struct {
	Template MetaTemplate `json:"template"`
}

type FreeForm struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              FreeFormSpec `json:"spec"`
}

type FreeFormSpec struct {
	// +kubebuilder:pruning:PreserveUnknownFields
	Values runtime.RawExtension `json:"values"`
	// +optional
	Anything apiextensionsv1.JSON `json:"anything,omitempty"`
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Open ListItem `json:"open,omitempty"`
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +optional
	Bare string `json:"bare,omitempty"`
}

// +kubebuilder:resource:scope=Cluster
type ClusterWide struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ClusterWideSpec `json:"spec"`
}

type ClusterWideSpec struct {
	Size int32 `json:"size"`
}

// +kubebuilder:resource:path=namedthings,singular=nm,shortName=n;nt,categories=all;things
type Named struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              NamedSpec `json:"spec"`
}

type NamedSpec struct {
	Size int32 `json:"size"`
}

// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`,format=int32,description="how many"
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:subresource:status
type Columned struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ColumnedSpec `json:"spec"`
	// +optional
	Status ColumnedStatus `json:"status,omitempty"`
}

type ColumnedSpec struct {
	Size int32 `json:"size"`
	// +optional
	Until metav1.Time `json:"until,omitempty"`
}

type ColumnedStatus struct {
	// +optional
	Phase string `json:"phase,omitempty"`
}

// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:subresource:status
type Scaled struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ScaledSpec `json:"spec"`
	// +optional
	Status ScaledStatus `json:"status,omitempty"`
}

type ScaledSpec struct {
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
}

type ScaledStatus struct {
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
	// +optional
	Selector string `json:"selector,omitempty"`
}

// +kubebuilder:selectablefield:JSONPath=`.spec.color`
// +kubebuilder:selectablefield:JSONPath=`.spec.node`
type Selectable struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              SelectableSpec `json:"spec"`
}

type SelectableSpec struct {
	Color string `json:"color"`
	// +optional
	Node string `json:"node,omitempty"`
}

// +kubebuilder:metadata:annotations="example.com/owner=fleet",labels="tier=gold"
type Annotated struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              AnnotatedSpec `json:"spec"`
}

type AnnotatedSpec struct {
	Size int32 `json:"size"`
}

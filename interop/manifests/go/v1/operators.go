package v1

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

type PlainStatus struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              PlainStatusSpec `json:"spec"`
	// +optional
	Status PlainStatusStatus `json:"status,omitempty"`
}

type PlainStatusSpec struct {
	Size int32 `json:"size"`
}

type PlainStatusStatus struct {
	// +optional
	Done bool `json:"done,omitempty"`
}

// +kubebuilder:subresource:status
type Memcached struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              MemcachedSpec `json:"spec"`
	// +optional
	Status MemcachedStatus `json:"status,omitempty"`
}

type MemcachedSpec struct {
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3
	// +optional
	Size int32 `json:"size,omitempty"`
}

type MemcachedStatus struct {
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:resource:scope=Cluster
// +kubebuilder:subresource:status
type Guestbook struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              GuestbookSpec `json:"spec"`
	// +optional
	Status GuestbookStatus `json:"status,omitempty"`
}

type GuestbookSpec struct {
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Size int32 `json:"size"`
	// +kubebuilder:validation:MaxLength=15
	ConfigMapName string `json:"configMapName"`
	// +kubebuilder:default="Phone"
	// +kubebuilder:validation:Enum=Phone;Address;Name
	// +optional
	Alias string `json:"alias,omitempty"`
}

type GuestbookStatus struct {
	// +optional
	Active string `json:"active,omitempty"`
	// +listType=atomic
	// +optional
	Standby []string `json:"standby,omitempty"`
}

type IssuerReference struct {
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
	// +kubebuilder:default="Issuer"
	// +kubebuilder:validation:Enum=Issuer;ClusterIssuer
	// +optional
	Kind string `json:"kind,omitempty"`
	// +optional
	Group string `json:"group,omitempty"`
}

type PrivateKey struct {
	// +kubebuilder:default="RSA"
	// +kubebuilder:validation:Enum=RSA;ECDSA;Ed25519
	// +optional
	Algorithm string `json:"algorithm,omitempty"`
	// +optional
	Size int32 `json:"size,omitempty"`
}

// +kubebuilder:resource:shortName=cert
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Secret",type=string,JSONPath=`.spec.secretName`
// +kubebuilder:subresource:status
type Certificate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              CertificateSpec `json:"spec"`
	// +optional
	Status CertificateStatus `json:"status,omitempty"`
}

type CertificateSpec struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	SecretName string          `json:"secretName"`
	IssuerRef  IssuerReference `json:"issuerRef"`
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +optional
	DnsNames []string `json:"dnsNames,omitempty"`
	// +kubebuilder:validation:Format=duration
	// +optional
	Duration string `json:"duration,omitempty"`
	// +optional
	PrivateKey PrivateKey `json:"privateKey,omitempty"`
}

type CertificateStatus struct {
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// +optional
	NotAfter metav1.Time `json:"notAfter,omitempty"`
	// +optional
	Revision int32 `json:"revision,omitempty"`
}

type ACMEIssuer struct {
	// +kubebuilder:validation:Format=uri
	Server string `json:"server"`
	// +optional
	Email      string                   `json:"email,omitempty"`
	AccountKey corev1.SecretKeySelector `json:"accountKey"`
}

type CAIssuer struct {
	SecretName string `json:"secretName"`
}

type SelfSigned struct {
	// +listType=atomic
	// +optional
	CrlDistributionPoints []string `json:"crlDistributionPoints,omitempty"`
}

// +kubebuilder:resource:scope=Cluster,categories=issuers
// +kubebuilder:subresource:status
type ClusterIssuer struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ClusterIssuerSpec `json:"spec"`
	// +optional
	Status ClusterIssuerStatus `json:"status,omitempty"`
}

// +kubebuilder:validation:AtMostOneOf=acme;ca;selfSigned
type ClusterIssuerSpec struct {
	// +optional
	Acme ACMEIssuer `json:"acme,omitempty"`
	// +optional
	Ca CAIssuer `json:"ca,omitempty"`
	// +optional
	SelfSigned SelfSigned `json:"selfSigned,omitempty"`
}

type ClusterIssuerStatus struct {
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:subresource:status
type CertificateRequest struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              CertificateRequestSpec `json:"spec"`
	// +optional
	Status CertificateRequestStatus `json:"status,omitempty"`
}

type CertificateRequestSpec struct {
	Request   []byte          `json:"request"`
	IssuerRef IssuerReference `json:"issuerRef"`
	// +kubebuilder:default=false
	// +optional
	IsCA bool `json:"isCA,omitempty"`
	// +listType=atomic
	// +kubebuilder:validation:items:Enum=signing;server auth;client auth
	// +optional
	Usages []string `json:"usages,omitempty"`
}

type CertificateRequestStatus struct {
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// +optional
	Certificate []byte `json:"certificate,omitempty"`
	// +optional
	FailureTime metav1.Time `json:"failureTime,omitempty"`
}

type RouteMatch struct {
	// +kubebuilder:default="PathPrefix"
	// +kubebuilder:validation:Enum=Exact;PathPrefix
	// +optional
	Type string `json:"type,omitempty"`
	// +kubebuilder:default="/"
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Value string `json:"value,omitempty"`
}

type RouteBackend struct {
	Name string `json:"name"`
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	Weight int32 `json:"weight,omitempty"`
}

type RouteRule struct {
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +optional
	Matches []RouteMatch `json:"matches,omitempty"`
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Backends []RouteBackend `json:"backends"`
}

// +kubebuilder:subresource:status
type HTTPRoute struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              HTTPRouteSpec `json:"spec"`
	// +optional
	Status HTTPRouteStatus `json:"status,omitempty"`
}

type HTTPRouteSpec struct {
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^(\*\.)?[a-z0-9.-]+$`
	// +optional
	Hostnames []string `json:"hostnames,omitempty"`
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Rules []RouteRule `json:"rules"`
}

type HTTPRouteStatus struct {
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type Listener struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
	// +kubebuilder:validation:MinLength=1
	Protocol string `json:"protocol"`
}

// +kubebuilder:subresource:status
type Gateway struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              GatewaySpec `json:"spec"`
	// +optional
	Status GatewayStatus `json:"status,omitempty"`
}

type GatewaySpec struct {
	// +k8s:immutable
	ClassName string `json:"className"`
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Listeners []Listener `json:"listeners"`
}

type GatewayStatus struct {
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// +listType=atomic
	// +optional
	Addresses []string `json:"addresses,omitempty"`
}

type ScrapeEndpoint struct {
	// +optional
	Port string `json:"port,omitempty"`
	// +kubebuilder:default="/metrics"
	// +optional
	Path string `json:"path,omitempty"`
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:Pattern=`^([0-9]+)(s|m)$`
	// +optional
	Interval string `json:"interval,omitempty"`
	// +optional
	Params map[string]StringList `json:"params,omitempty"`
}

// +listType=atomic
type StringList []string

type ServiceMonitor struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ServiceMonitorSpec `json:"spec"`
}

type ServiceMonitorSpec struct {
	Selector metav1.LabelSelector `json:"selector"`
	// +listType=atomic
	Endpoints []ScrapeEndpoint `json:"endpoints"`
}

// +kubebuilder:validation:AtMostOneOf=alert;record
type AlertRule struct {
	// +optional
	Alert string `json:"alert,omitempty"`
	// +optional
	Record string             `json:"record,omitempty"`
	Expr   intstr.IntOrString `json:"expr"`
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
}

type RuleGroup struct {
	Name string `json:"name"`
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Rules []AlertRule `json:"rules"`
}

type PrometheusRule struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              PrometheusRuleSpec `json:"spec"`
}

type PrometheusRuleSpec struct {
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	Groups []RuleGroup `json:"groups"`
}

type ListItem struct {
	Name string `json:"name"`
	// +optional
	Value string `json:"value,omitempty"`
}

type AppHelm struct {
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Values runtime.RawExtension `json:"values,omitempty"`
	// +listType=map
	// +listMapKey=name
	// +optional
	Parameters []ListItem `json:"parameters,omitempty"`
}

type AppSource struct {
	RepoURL string `json:"repoURL"`
	// +optional
	TargetRevision string `json:"targetRevision,omitempty"`
	// +optional
	Helm AppHelm `json:"helm,omitempty"`
}

// +kubebuilder:validation:ExactlyOneOf=server;name
type AppDestination struct {
	// +optional
	Server string `json:"server,omitempty"`
	// +optional
	Name string `json:"name,omitempty"`
	// +kubebuilder:default="default"
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

type AppRevision struct {
	Id         int64       `json:"id"`
	Revision   string      `json:"revision"`
	DeployedAt metav1.Time `json:"deployedAt"`
}

// +kubebuilder:resource:shortName=app;apps
// +kubebuilder:subresource:status
type Application struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ApplicationSpec `json:"spec"`
	// +optional
	Status ApplicationStatus `json:"status,omitempty"`
}

type ApplicationSpec struct {
	Source      AppSource      `json:"source"`
	Destination AppDestination `json:"destination"`
	// +kubebuilder:default="default"
	// +optional
	Project string `json:"project,omitempty"`
}

type ApplicationStatus struct {
	// +kubebuilder:validation:Enum=Healthy;Degraded;Unknown
	// +optional
	Health string `json:"health,omitempty"`
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +optional
	History []AppRevision `json:"history,omitempty"`
}

type ScaleTrigger struct {
	Type     string            `json:"type"`
	Metadata map[string]string `json:"metadata"`
	// +kubebuilder:default="AverageValue"
	// +kubebuilder:validation:Enum=AverageValue;Value
	// +optional
	MetricType string `json:"metricType,omitempty"`
}

// +kubebuilder:subresource:status
type ScaledObject struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ScaledObjectSpec `json:"spec"`
	// +optional
	Status ScaledObjectStatus `json:"status,omitempty"`
}

// +kubebuilder:validation:XValidation:rule="self.minReplicaCount <= self.maxReplicaCount",message="minReplicaCount must not exceed maxReplicaCount"
type ScaledObjectSpec struct {
	ScaleTargetRef corev1.TypedLocalObjectReference `json:"scaleTargetRef"`
	// +kubebuilder:default=0
	// +optional
	MinReplicaCount int32 `json:"minReplicaCount,omitempty"`
	// +kubebuilder:default=100
	// +optional
	MaxReplicaCount int32 `json:"maxReplicaCount,omitempty"`
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	Triggers []ScaleTrigger `json:"triggers"`
}

type ScaledObjectStatus struct {
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type Bootstrap struct {
	// +optional
	ConfigRef corev1.ObjectReference `json:"configRef,omitempty"`
	// +optional
	DataSecretName string `json:"dataSecretName,omitempty"`
}

type MachineAddress struct {
	Type    string `json:"type"`
	Address string `json:"address"`
}

// +kubebuilder:resource:shortName=ma,categories=cluster-api
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:subresource:status
type Machine struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              MachineSpec `json:"spec"`
	// +optional
	Status MachineStatus `json:"status,omitempty"`
}

type MachineSpec struct {
	// +kubebuilder:validation:MinLength=1
	// +k8s:immutable
	ClusterName string `json:"clusterName"`
	// +optional
	ProviderID string `json:"providerID,omitempty"`
	// +optional
	FailureDomain string    `json:"failureDomain,omitempty"`
	Bootstrap     Bootstrap `json:"bootstrap"`
	// +listType=atomic
	// +optional
	Taints []corev1.Taint `json:"taints,omitempty"`
}

type MachineStatus struct {
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +kubebuilder:validation:Enum=Pending;Running;Failed
	// +optional
	Phase string `json:"phase,omitempty"`
	// +listType=atomic
	// +optional
	Addresses []MachineAddress `json:"addresses,omitempty"`
}

// +kubebuilder:resource:scope=Cluster,categories=pkg
// +kubebuilder:subresource:status
type Provider struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ProviderSpec `json:"spec"`
	// +optional
	Status ProviderStatus `json:"status,omitempty"`
}

type ProviderSpec struct {
	Package string `json:"package"`
	// +kubebuilder:default=1
	// +optional
	RevisionHistoryLimit int64 `json:"revisionHistoryLimit,omitempty"`
	// +kubebuilder:default="Automatic"
	// +kubebuilder:validation:Enum=Automatic;Manual
	// +optional
	Activation string `json:"activation,omitempty"`
}

type ProviderStatus struct {
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type Progress struct {
	// +optional
	TotalItems int32 `json:"totalItems,omitempty"`
	// +optional
	ItemsBackedUp int32 `json:"itemsBackedUp,omitempty"`
}

// +kubebuilder:subresource:status
type Backup struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              BackupSpec `json:"spec"`
	// +optional
	Status BackupStatus `json:"status,omitempty"`
}

type BackupSpec struct {
	// +listType=set
	// +optional
	IncludedNamespaces []string `json:"includedNamespaces,omitempty"`
	// +nullable
	// +optional
	LabelSelector metav1.LabelSelector `json:"labelSelector,omitempty"`
	// +kubebuilder:default="720h"
	// +kubebuilder:validation:Format=duration
	// +optional
	Ttl string `json:"ttl,omitempty"`
}

type BackupStatus struct {
	// +kubebuilder:validation:Enum=New;InProgress;Completed;Failed
	// +optional
	Phase string `json:"phase,omitempty"`
	// +optional
	Progress Progress `json:"progress,omitempty"`
	// +optional
	Errors map[string]string `json:"errors,omitempty"`
}

type Storage struct {
	Size resource.Quantity `json:"size"`
	// +optional
	StorageClass *string `json:"storageClass,omitempty"`
}

// +kubebuilder:subresource:scale:specpath=.spec.instances,statuspath=.status.readyInstances
// +kubebuilder:subresource:status
type PostgresCluster struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              PostgresClusterSpec `json:"spec"`
	// +optional
	Status PostgresClusterStatus `json:"status,omitempty"`
}

type PostgresClusterSpec struct {
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +optional
	Instances int32 `json:"instances,omitempty"`
	// +optional
	ImageName string  `json:"imageName,omitempty"`
	Storage   Storage `json:"storage"`
	// +optional
	Parameters map[string]string `json:"parameters,omitempty"`
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`
}

type PostgresClusterStatus struct {
	// +optional
	ReadyInstances int32 `json:"readyInstances,omitempty"`
	// +optional
	CurrentPrimary string `json:"currentPrimary,omitempty"`
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type KafkaListener struct {
	// +kubebuilder:validation:Pattern=`^[a-z0-9]{1,11}$`
	Name string `json:"name"`
	// +kubebuilder:validation:Minimum=9092
	Port int32 `json:"port"`
	Tls  bool  `json:"tls"`
}

// +kubebuilder:subresource:status
type Kafka struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              KafkaSpec `json:"spec"`
	// +optional
	Status KafkaStatus `json:"status,omitempty"`
}

type KafkaSpec struct {
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	Listeners []KafkaListener `json:"listeners"`
	// +optional
	Config apiextensionsv1.JSON `json:"config,omitempty"`
}

type KafkaStatus struct {
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type Owner struct {
	// +kubebuilder:validation:Enum=User;Group;ServiceAccount
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// +kubebuilder:resource:scope=Cluster
// +kubebuilder:subresource:status
type Tenant struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              TenantSpec `json:"spec"`
	// +optional
	Status TenantStatus `json:"status,omitempty"`
}

type TenantSpec struct {
	// +listType=map
	// +listMapKey=kind
	// +listMapKey=name
	Owners []Owner `json:"owners"`
	// +optional
	Quota corev1.ResourceQuotaSpec `json:"quota,omitempty"`
}

type TenantStatus struct {
	// +listType=set
	// +optional
	Namespaces []string `json:"namespaces,omitempty"`
	// +optional
	Size int32 `json:"size,omitempty"`
}

type Step struct {
	Name string `json:"name"`
	// +optional
	Container corev1.Container `json:"container,omitempty"`
	// +listType=set
	// +optional
	DependsOn []string `json:"dependsOn,omitempty"`
	// +kubebuilder:validation:Minimum=0
	// +optional
	Retries int32 `json:"retries,omitempty"`
}

// +kubebuilder:subresource:status
type Workflow struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WorkflowSpec `json:"spec"`
	// +optional
	Status WorkflowStatus `json:"status,omitempty"`
}

type WorkflowSpec struct {
	Entrypoint string `json:"entrypoint"`
	// +listType=map
	// +listMapKey=name
	Steps []Step `json:"steps"`
	// +mapType=atomic
	// +optional
	Arguments map[string]string `json:"arguments,omitempty"`
}

type WorkflowStatus struct {
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
}

// +kubebuilder:resource:scope=Cluster
type IPPool struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              IPPoolSpec `json:"spec"`
}

type IPPoolSpec struct {
	// +kubebuilder:validation:Format=cidr
	Cidr string `json:"cidr"`
	// +kubebuilder:validation:Format=ipv4
	// +optional
	Gateway string `json:"gateway,omitempty"`
	// +listType=set
	// +kubebuilder:validation:items:Format=ipv4
	// +optional
	Excluded []string `json:"excluded,omitempty"`
}

// +kubebuilder:subresource:status
type DNSRecord struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              DNSRecordSpec `json:"spec"`
	// +optional
	Status DNSRecordStatus `json:"status,omitempty"`
}

type DNSRecordSpec struct {
	// +kubebuilder:validation:Enum=A;CNAME;TXT
	Type string `json:"type"`
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	Targets []string `json:"targets"`
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=0
	// +optional
	Ttl int64 `json:"ttl,omitempty"`
}

type DNSRecordStatus struct {
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// +kubebuilder:subresource:status
type Captain struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              CaptainSpec `json:"spec"`
	// +optional
	Status CaptainStatus `json:"status,omitempty"`
}

type CaptainSpec struct {
	// +kubebuilder:example="Pequod"
	Ship string `json:"ship"`
	// +kubebuilder:validation:Minimum=1
	// +optional
	Rank int32 `json:"rank,omitempty"`
}

type CaptainStatus struct {
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:subresource:status
type Frigate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              FrigateSpec `json:"spec"`
	// +optional
	Status FrigateStatus `json:"status,omitempty"`
}

type FrigateSpec struct {
	// +optional
	Foo string `json:"foo,omitempty"`
}

type FrigateStatus struct {
	// +optional
	Ready bool `json:"ready,omitempty"`
}

// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.spec.replicas`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:subresource:status
type Rollout struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              RolloutSpec `json:"spec"`
	// +optional
	Status RolloutStatus `json:"status,omitempty"`
}

type RolloutSpec struct {
	// +kubebuilder:default=1
	// +optional
	Replicas int32                  `json:"replicas,omitempty"`
	Selector metav1.LabelSelector   `json:"selector"`
	Template corev1.PodTemplateSpec `json:"template"`
	// +optional
	MaxSurge intstr.IntOrString `json:"maxSurge,omitempty"`
	// +optional
	Paused bool `json:"paused,omitempty"`
}

type RolloutStatus struct {
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

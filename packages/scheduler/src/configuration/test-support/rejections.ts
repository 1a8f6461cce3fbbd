export const head = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n'

const inProfile = 'initializing profiles: creating profile for scheduler name default-scheduler: '
const inFit = `${inProfile}initializing plugin "NodeResourcesFit": `
const badName =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const args = (name: string, text: string) => `profiles: [{pluginConfig: [{name: ${name}, args: ${text}}]}]`
const atArgs = 'profiles[0].pluginConfig[0].args'

/** Documents without their headers, and kube-scheduler 1.36's errors. */
export const rejections: readonly (readonly [string, string])[] = [
  ['foo: 1', 'strict decoding error: unknown field "foo"'],
  [
    'profiles: [{plugins: {filterx: {}}, x: 2}]',
    'strict decoding error: unknown field "profiles[0].plugins.filterx", unknown field "profiles[0].x"',
  ],
  [
    'profiles: [{schedulerName: 3}]',
    'json: cannot unmarshal number into Go struct field KubeSchedulerProfile.profiles.schedulerName of type string',
  ],
  [
    'podMaxBackoffSeconds: "3"',
    'json: cannot unmarshal string into Go struct field KubeSchedulerConfiguration.podMaxBackoffSeconds of type int64',
  ],
  [
    'profiles: [{plugins: {score: {enabled: [{name: ImageLocality, weight: 3.5}]}}}]',
    'json: cannot unmarshal number 3.5 into Go struct field Plugin.profiles.plugins.score.enabled.weight of type int32',
  ],
  ['extenders: [{urlPrefix: "http://x", httpTimeout: bad}]', 'time: invalid duration "bad"'],
  [
    'profiles: [{plugins: {filter: {enabled: [{name: Foo}]}}}]',
    `${inProfile}FilterPlugin "Foo" does not exist`,
  ],
  ['profiles: [{plugins: {filter: {enabled: [{}]}}}]', `${inProfile}FilterPlugin "" does not exist`],
  [
    'profiles: [{plugins: {multiPoint: {enabled: [{name: Foo}]}}}]',
    `${inProfile}PreFilterPlugin "Foo" does not exist`,
  ],
  [
    'profiles: [{plugins: {filter: {enabled: [{name: PrioritySort}]}}}]',
    `${inProfile}plugin "PrioritySort" does not extend FilterPlugin plugin`,
  ],
  [
    'profiles: [{plugins: {score: {enabled: [{name: ImageLocality, weight: -3}]}}}]',
    `${inProfile}score plugins: total score of Score plugins could overflow`,
  ],
  [
    'profiles: [{plugins: {queueSort: {disabled: [{name: "*"}]}}}]',
    `${inProfile}only one queue sort plugin required for profile with scheduler name "default-scheduler", but got 0`,
  ],
  [
    'profiles: [{plugins: {multiPoint: {disabled: [{name: "*"}]}}}]',
    `${inProfile}only one queue sort plugin required for profile with scheduler name "default-scheduler", but got 0`,
  ],
  [
    'profiles: [{plugins: {bind: {disabled: [{name: "*"}]}}}]',
    `${inProfile}at least one bind plugin is needed for profile with scheduler name "default-scheduler"`,
  ],
  [
    'profiles: [{plugins: {filter: {enabled: [{name: NodeName}, {name: NodeName}]}}}]',
    `${inProfile}plugin "NodeName" already registered as "FilterPlugin"`,
  ],
  [
    'profiles: [{plugins: {multiPoint: {enabled: [{name: NodeName}, {name: NodeName}]}}}]',
    `${inProfile}plugin "NodeName" already registered as "FilterPlugin"`,
  ],
  ['profiles: [{schedulerName: a}, {schedulerName: a}]', 'profiles[1].schedulerName: Duplicate value: {}'],
  ['profiles: [{}, {schedulerName: a}]', 'profiles[0].schedulerName: Required value'],
  ['profiles: [{schedulerName: ""}]', 'profiles[0].schedulerName: Required value'],
  [
    'profiles: [{schedulerName: a, plugins: {queueSort: {enabled: [{name: Foo}]}}}, {schedulerName: b}]',
    'profiles[1].plugins.queueSort: Invalid value: {"Enabled":null,"Disabled":null}: must be the same for all profiles',
  ],
  [
    'percentageOfNodesToScore: 101\npodInitialBackoffSeconds: 20\nparallelism: 0',
    '[parallelism: Invalid value: 0: should be an integer value greater than zero, percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100], podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to PodInitialBackoffSeconds]',
  ],
  [
    'extenders: [{urlPrefix: "http://x", prioritizeVerb: p}]',
    'extenders[0].weight: Invalid value: 0: must have a positive weight applied to it',
  ],
  [
    'extenders: [{urlPrefix: "http://x", bindVerb: p, managedResources: [{name: cpu},{name: "a b"}]},{urlPrefix: "x", bindVerb: p, managedResources: [{name: cpu}]}]',
    `[extenders[0].managedResources[0].name: Invalid value: "cpu": is an invalid extended resource name, extenders[0].managedResources[1].name: Invalid value: "a b": ${badName}, extenders[1].managedResources[0].name: Invalid value: "cpu": is an invalid extended resource name, extenders[1].managedResources[0].name: Invalid value: "cpu": duplicate extender managed resource name, extenders: Invalid value: "found 2 extenders implementing bind": only one extender can implement bind]`,
  ],
  [
    args('NodeResourcesFit', '{scoringStrategy: {type: X}}'),
    `${inProfile}initializing plugin "NodeResourcesFit": scoringStrategy.type: Unsupported value: "X": supported values: "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"`,
  ],
  [
    args('NodeResourcesFit', '{foo: 1}'),
    'strict decoding error: decoding .profiles[0].pluginConfig[0]: strict decoding error: decoding args for plugin NodeResourcesFit: strict decoding error: unknown field "foo"',
  ],
  [
    args('NodeResourcesFit', '{ignoredResources: 1}'),
    'decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeResourcesFit: json: cannot unmarshal number into Go struct field NodeResourcesFitArgs.ignoredResources of type []string',
  ],
  [
    args('NodeResourcesFit', '{kind: InterPodAffinityArgs, apiVersion: kubescheduler.config.k8s.io/v1}'),
    'decoding .profiles[0].pluginConfig[0]: args for plugin NodeResourcesFit were not of type NodeResourcesFitArgs.kubescheduler.config.k8s.io, got InterPodAffinityArgs.kubescheduler.config.k8s.io',
  ],
  [
    'profiles: [{pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 101}}, {name: DefaultPreemption, args: {minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}}]}]',
    `[${atArgs}.hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100], profiles[0].pluginConfig[1].args.minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as minCandidateNodesAbsolute, profiles[0].pluginConfig[1].args.minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at the same time as minCandidateNodesPercentage]`,
  ],
  [
    'profiles: [{pluginConfig: [{name: InterPodAffinity}, {name: InterPodAffinity}]}]',
    'profiles[0].pluginConfig[1]: Duplicate value: "InterPodAffinity"',
  ],
  [
    args('VolumeBinding', '{shape: [], bindTimeoutSeconds: -1}'),
    `[${atArgs}.bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value, ${atArgs}.shape: Invalid value: []: unexpected field \`shape\`, remove it or turn on the feature gate StorageCapacityScoring]`,
  ],
  [
    args('VolumeBinding', '{shape: [{utilization: 1, score: 2}]}'),
    `${atArgs}.shape: Invalid value: [{"Utilization":1,"Score":2}]: unexpected field \`shape\`, remove it or turn on the feature gate StorageCapacityScoring`,
  ],
  [
    args('DynamicResources', '{filterTimeout: -1s, bindingTimeout: 1ms}'),
    `[${atArgs}.filterTimeout: Invalid value: "-1s": must be zero or positive, ${atArgs}.bindingTimeout: Invalid value: "1ms": must be at least 1 second]`,
  ],
  [
    args('DynamicResources', '{filterTimeout: xx}'),
    'decoding .profiles[0].pluginConfig[0]: decoding args for plugin DynamicResources: time: invalid duration "xx"',
  ],
  [
    args('NodeResourcesBalancedAllocation', '{resources: [{name: cpu, weight: 2}, {name: cpu}]}'),
    `[${atArgs}.resources[0].weight: Invalid value: 2: must be 1, ${atArgs}.resources[1].name: Duplicate value: "cpu"]`,
  ],
  [
    args(
      'PodTopologySpread',
      '{defaultConstraints: [{maxSkew: 0, topologyKey: "", whenUnsatisfiable: X, labelSelector: {}}]}',
    ),
    `[${atArgs}.defaultingType: Invalid value: "System": when .defaultConstraints are not empty, ${atArgs}.defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf), ${atArgs}.defaultConstraints[0].topologyKey: Required value: can not be empty, ${atArgs}.defaultConstraints[0].whenUnsatisfiable: Unsupported value: "X": supported values: "DoNotSchedule", "ScheduleAnyway", ${atArgs}.defaultConstraints[0].labelSelector: Forbidden: constraint must not define a selector, as they deduced for each pod]`,
  ],
  [
    args(
      'NodeAffinity',
      '{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: "a b", operator: In}]}]}}}',
    ),
    `[${atArgs}.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key: Invalid value: "a b": ${badName}, ${atArgs}.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty]`,
  ],
  [
    args('NodeResourcesFit', '{scoringStrategy: {type: RequestedToCapacityRatio}}'),
    `${inFit}scoringStrategy.requestedToCapacityRatio: Required value: must be specified when type is RequestedToCapacityRatio`,
  ],
  [
    args(
      'NodeResourcesFit',
      '{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [{utilization: 50, score: 11}, {utilization: 40, score: 1}]}}}',
    ),
    `${inFit}[scoringStrategy.requestedToCapacityRatio.shape[1].utilization: Invalid value: 40: values must be sorted in increasing order, scoringStrategy.requestedToCapacityRatio.shape[0].score: Invalid value: 11: not in valid range [0, 10]]`,
  ],
  [
    args(
      'NodeResourcesFit',
      '{ignoredResourceGroups: [a/b], ignoredResources: ["x y"], scoringStrategy: {type: LeastAllocated, resources: [{name: cpu, weight: 101}], requestedToCapacityRatio: {}}}',
    ),
    `${inFit}[ignoredResources[0]: Invalid value: "x y": ${badName}, ignoredResourceGroups[0]: Invalid value: "a/b": resource group name can't contain '/', scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu not in valid range (0, 100], scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when type is not RequestedToCapacityRatio]`,
  ],
  [
    args('NodeResourcesFit', '{scoringStrategy: {}}'),
    `${inFit}scoringStrategy.type: Unsupported value: "": supported values: "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"`,
  ],
  [
    'profiles: [{percentageOfNodesToScore: 101}]',
    'profiles[0].percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]',
  ],
  [
    'profiles: [{plugins: {filter: {enabled: [{name: EBSLimits}]}}, pluginConfig: [{name: EBSLimits}]}]',
    '[profiles[0].plugins.filter.enabled[0]: Invalid value: "EBSLimits": was invalid in version "v1" (KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1"), profiles[0].pluginConfig[0]: Invalid value: "EBSLimits": was invalid in version "v1" (KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")]',
  ],
  [
    'profiles: [{plugins: {queueSort: {enabled: [{name: a}, {name: b}]}}}]',
    'profiles[0].plugins.queueSort.Enabled: Invalid value: 2: only one queue sort plugin can be enabled',
  ],
  ['podInitialBackoffSeconds: 0', 'podInitialBackoffSeconds: Invalid value: 0: must be greater than 0'],
  [
    args(
      'PodTopologySpread',
      '{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}, {maxSkew: 2, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]}',
    ),
    `${atArgs}.defaultConstraints[1]: Duplicate value: "{a, DoNotSchedule}"`,
  ],
  [
    args('PodTopologySpread', '{defaultingType: Nope}'),
    `${atArgs}.defaultingType: Unsupported value: "Nope": supported values: "System", "List"`,
  ],
  [
    args(
      'NodeAffinity',
      '{addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: a, operator: Near}], matchFields: [{key: metadata.name, operator: In, values: [a, b]}]}}]}}',
    ),
    `[${atArgs}.addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].matchExpressions[0].operator: Unsupported value: "Near": supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", ${atArgs}.addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].matchFields[0].values: Invalid value: ["a","b"]: must have one element]`,
  ],
  [
    args('DefaultPreemption', '{minCandidateNodesPercentage: -1, minCandidateNodesAbsolute: -2}'),
    `[${atArgs}.minCandidateNodesPercentage: Invalid value: -1: not in valid range [0, 100], ${atArgs}.minCandidateNodesAbsolute: Invalid value: -2: not in valid range [0, inf)]`,
  ],
  [
    args('NodeAffinity', '{addedAffinity: {x: 1}}'),
    'strict decoding error: decoding .profiles[0].pluginConfig[0]: strict decoding error: decoding args for plugin NodeAffinity: strict decoding error: unknown field "addedAffinity.x"',
  ],
  ['extenders: [{urlPrefix: "http://x", foo: 1}]', 'strict decoding error: unknown field "extenders[0].foo"'],
]

import { type OperatorModule, operators } from '../crds/operators.ts'

/** The operators whose custom resources the suite `crds` installs, and three whose samples are in their documents. */
export const projects: readonly OperatorModule[] = [
  ...operators,
  {
    name: 'KEDA',
    module: 'github.com/kedacore/keda/v2',
    version: 'v2.21.0',
    definitions: ['config/crd/bases/*.yaml'],
    samples: ['config/samples/*.yaml'],
    atLeast: { definitions: 6, samples: 3 },
    refused: [/"scaledjob-sample" is invalid: spec\.jobTargetRef\.template: Required value/],
  },
  {
    name: 'Cluster API',
    module: 'sigs.k8s.io/cluster-api',
    version: 'v1.14.2',
    definitions: ['{core,bootstrap/kubeadm,controlplane/kubeadm}/config/crd/bases/*.yaml'],
    samples: ['docs/book/src/tasks/**/*.md'],
    atLeast: { definitions: 17, samples: 20 },
    refused: [
      /"my-control-plane1" is invalid: spec\.clusterName: Required value/,
      /"example-control-plane" is invalid: .*clusterConfiguration in body must be of type object/,
      /"quick-start" is invalid: .*spec\.controlPlane: Required value/,
      /unknown field "spec\.unhealthyMachineConditions"/,
    ],
  },
  {
    name: 'Istio',
    module: 'istio.io/api',
    version: 'v1.31.1',
    definitions: ['kubernetes/customresourcedefinitions.gen.yaml'],
    samples: ['{networking,security,telemetry,extensions}/**/*.pb.html'],
    atLeast: { definitions: 14, samples: 60 },
    refused: [/unknown field "spec\.http\[0\]\.redirect\.prefix_rewrite"/],
  },
]

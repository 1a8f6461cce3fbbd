import { Node } from '@coxswain/api/core/v1'
import { type Given, node, pod, refused, type Scenario } from './scenario.ts'

const unknown = "node(s) didn't match Pod's required features"
const restartRule = { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }
const restarting = { container: { restartPolicy: 'Never', restartPolicyRules: [restartRule] } }
const declare = (...declaredFeatures: readonly string[]) => ({ status: { declaredFeatures } })
const knowing = (name: string): Given => {
  const [kind, object] = node(name)
  const status = { ...(object.status as object), ...declare('RestartAllContainersOnContainerExits').status }
  return [kind, { ...object, status }]
}

export const nodeDeclaredFeatures: readonly Scenario[] = [
  {
    name: 'NodeDeclaredFeatures: a pod waits for a node that knows what it asks for',
    nodes: [node('n1'), node('n2')],
    steps: [
      { create: [pod('a', restarting), pod('b')], end: { a: refused(2, `2 ${unknown}`) } },
      {
        patch: [[Node, 'n2', declare('RestartAllContainersOnContainerExits'), 'status']],
        end: { a: 'n2' },
        tries: 1,
      },
    ],
  },
  {
    name: 'NodeDeclaredFeatures: a node that comes with what is asked for wakes the pod',
    nodes: [node('n1')],
    steps: [
      { create: [pod('a', restarting)], end: { a: refused(1, `1 ${unknown}`) } },
      { create: [knowing('n2')], end: { a: 'n2' } },
    ],
  },
]

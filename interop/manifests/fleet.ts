/** The TypeScript twin of the markers in go/rbac and go/webhook. */
import { Deployment, StatefulSet } from '@coxswain/api/apps/v1'
import { ConfigMap, Node, Pod, Secret } from '@coxswain/api/core/v1'
import { defineOperator, type Operator } from 'coxswain'
import { Captain, Frigate } from './kinds/operators.ts'

const fleet: Operator = defineOperator('fleet', operator => {
  operator
    .controller('captain')
    .for(Captain.v1)
    .owns(Pod)
    .watches(ConfigMap, () => [])
    .finalizer('shapes.example.com/farewell', () => {})
    .rbac(Captain.v1, ['update'], { subresource: 'status' })
    .rbac(Pod, ['create', 'delete'])
    .rbac(Secret, ['get'], { names: ['treasure'] })
    .rbac({ urls: ['/healthz', '/metrics'] }, ['get'])
    .reconcile(() => {})
  operator
    .controller('frigate')
    .for(Frigate.v1)
    .owns(Deployment)
    .owns(StatefulSet)
    .rbac(Deployment, ['*'])
    .rbac(StatefulSet, ['*'])
    .rbac(Deployment, ['update'], { subresource: 'scale' })
    .rbac(ConfigMap, ['update'], { namespace: 'harbor' })
    .reconcile(() => {})
  operator.rbac(Node, ['get', 'list'])
  operator
    .webhook(Captain.v1)
    .default(() => {})
    .validate(() => {}, {
      operations: ['CREATE', 'UPDATE', 'DELETE'],
      failurePolicy: 'Ignore',
      matchPolicy: 'Exact',
      sideEffects: 'NoneOnDryRun',
      timeoutSeconds: 5,
    })
  operator.webhook(Frigate.v1).default(() => {}, { reinvocationPolicy: 'IfNeeded' })
})
export default fleet

import { childObject, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { newForbidden } from '@coxswain/apimachinery/status'
import { type AdmissionPlugin, isPodWrite } from './admission.ts'
import { findForeignEphemeralSecret, findForeignSecret } from './mountable-secrets.ts'

const defaultAccount = 'default'
const mirrorAnnotation = 'kubernetes.io/config.mirror'
const tokenPath = '/var/run/secrets/kubernetes.io/serviceaccount'
/** Slightly more than an hour, so that a kubelet that refreshes hourly does so in time. */
const tokenSeconds = 3607

const list = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** Gives every Pod a service account of its namespace, and mounts the account's token into its containers. */
export const serviceAccount: AdmissionPlugin = {
  name: 'ServiceAccount',
  needs: 'pods',
  mutate(attributes) {
    const { object, namespace, name, server, resource } = attributes
    if (!isPodWrite(attributes, 'CREATE') || !object) return
    const spec = childObject(object, 'spec')
    const { annotations } = object.metadata as { annotations?: Record<string, string> }
    if (annotations?.[mirrorAnnotation] !== undefined) return
    const accountName = (spec.serviceAccountName || defaultAccount) as string
    spec.serviceAccountName = accountName
    spec.serviceAccount = accountName
    const refuse = (detail: string) =>
      newForbidden(resource.info, name || String((object.metadata as JsonObject).generateName ?? ''), detail)
    const stored = server.cache
      .resource('/core/serviceaccounts/')
      .get(`/core/serviceaccounts/${namespace}/${accountName}`)
    if (!stored) {
      throw refuse(
        `error looking up service account ${namespace}/${accountName}: serviceaccount "${accountName}" not found`,
      )
    }
    const account = stored.peek()
    if ((spec.automountServiceAccountToken ?? account.automountServiceAccountToken) !== false) {
      mountToken(spec, `kube-api-access-${server.env.random.suffix(5)}`)
    }
    if (list(spec.imagePullSecrets).length === 0 && list(account.imagePullSecrets).length > 0) {
      spec.imagePullSecrets = list(account.imagePullSecrets).map(({ name: secret }) => ({ name: secret }))
    }
  },
  validate(attributes) {
    const { object, operation, subresource, name, namespace, resource, server } = attributes
    if (!object || resource.info.group !== '' || resource.info.resource !== 'pods') return
    const isNew = operation === 'CREATE' && subresource === ''
    const isAddition = operation === 'UPDATE' && subresource === 'ephemeralcontainers'
    if (!isNew && !isAddition) return
    const spec = childObject(object, 'spec')
    const stored = server.cache
      .resource('/core/serviceaccounts/')
      .get(`/core/serviceaccounts/${namespace}/${spec.serviceAccountName}`)
    if (!stored) return // a mirror Pod, which its node runs anyway
    const find = isNew ? findForeignSecret : findForeignEphemeralSecret
    const problem = find(stored.peek(), spec)
    if (problem !== undefined) throw newForbidden(resource.info, name, problem)
  },
}

function mountToken(spec: JsonObject, volume: string): void {
  let mounted = false
  for (const container of [...list(spec.initContainers), ...list(spec.containers)]) {
    if (list(container.volumeMounts).some(({ mountPath }) => mountPath === tokenPath)) continue
    container.volumeMounts = [
      ...list(container.volumeMounts),
      { name: volume, readOnly: true, mountPath: tokenPath },
    ]
    mounted = true
  }
  if (!mounted) return
  const sources = [
    { serviceAccountToken: { expirationSeconds: tokenSeconds, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: {
        items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
      },
    },
  ]
  spec.volumes = [...list(spec.volumes), { name: volume, projected: { sources, defaultMode: 0o644 } }]
}

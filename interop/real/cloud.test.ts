import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Node, PersistentVolume, PersistentVolumeClaim, Pod, Service } from '@coxswain/api/core/v1'
import { VolumeAttachment } from '@coxswain/api/storage/v1'
import { parseCIDR } from '@coxswain/apimachinery/validation'
import {
  createAttachDetachController,
  createCloudNodeController,
  createLocalCloud,
  createNodeIpamController,
  createNodeRouteController,
  createServiceLbController,
  uninitializedTaint,
} from '@coxswain/controllers'
import { eventually, type Session, startSession } from './session.ts'

const node = { name: 'machine-of-the-cloud' }
const clusterCIDRs = [parseCIDR('10.244.0.0/16')!]

describe('controllers of clouds and volumes, against a real server', () => {
  let session: Session
  before(async () => {
    session = await startSession('cloud')
    const cloud = createLocalCloud()
    session.start(createCloudNodeController(cloud))
    session.start(createServiceLbController(cloud))
    session.start(createNodeIpamController({ clusterCIDRs }))
    session.start(createNodeRouteController(cloud, { clusterCIDRs }))
    session.start(createAttachDetachController())
    // No Pod may be scheduled there.
    const annotations = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' }
    const taints = [{ key: uninitializedTaint, value: 'true', effect: 'NoSchedule' as const }]
    await session.client.create(Node, {
      metadata: { ...node, annotations },
      spec: { unschedulable: true, taints },
    })
  })
  after(async () => {
    await session.client.delete(Node, node)
    await session[Symbol.asyncDispose]()
  })

  it('tell a node what it is, and give it its range and a route', async () => {
    const { client } = session
    await eventually('the node is all there', async () => {
      const { metadata, spec, status } = (await client.get(Node, node))!
      const condition = status?.conditions?.find(({ type }) => type === 'NetworkUnavailable')
      return (
        spec?.providerID === `local://${node.name}` &&
        !spec.taints?.some(({ key }) => key === uninitializedTaint) &&
        metadata.labels?.['topology.kubernetes.io/zone'] === 'local-1' &&
        status?.addresses?.some(({ address }) => address === '127.0.0.1') === true &&
        spec.podCIDRs?.length === 1 &&
        spec.podCIDR === spec.podCIDRs[0] &&
        condition?.reason === 'RouteCreated'
      )
    })
  })

  it('give a service its load balancer, and take it back', async () => {
    const { client, namespace } = session
    const key = { namespace, name: 'web' }
    const ports = [{ port: 80 }]
    await client.create(Service, {
      metadata: key,
      spec: { type: 'LoadBalancer', selector: { a: 'b' }, ports },
    })
    const ingressOf = async () => (await client.get(Service, key))?.status?.loadBalancer?.ingress
    await eventually('it has an address', async () => (await ingressOf())?.[0]?.ip === '127.0.0.1')
    await client.patch(Service, key, { spec: { type: 'ClusterIP' } }, { type: 'merge' })
    await eventually('it has none', async () => {
      const service = await client.get(Service, key)
      return !service?.metadata.finalizers?.length && service?.status?.loadBalancer?.ingress === undefined
    })
    await client.patch(Service, key, { spec: { type: 'LoadBalancer' } }, { type: 'merge' })
    await eventually('it has one again', async () => (await ingressOf())?.[0]?.ip === '127.0.0.1')
    await client.delete(Service, key)
    await eventually('it is deleted', async () => (await client.get(Service, key)) === undefined)
  })

  it('attach a volume to the node of its pod, and detach it', async () => {
    const { client, namespace } = session
    const volume = { name: `volume-of-${namespace}` }
    const capacity = { storage: '1Gi' }
    const accessModes = ['ReadWriteOnce' as const]
    const metadata = { namespace, name: 'claim' }
    const claim = await client.create(PersistentVolumeClaim, {
      metadata,
      spec: { accessModes, resources: { requests: capacity }, volumeName: volume.name, storageClassName: '' },
    })
    const claimRef = { namespace, name: 'claim', uid: claim.metadata.uid }
    const csi = { driver: 'disks.example.com', volumeHandle: namespace }
    await client.create(PersistentVolume, {
      metadata: volume,
      spec: { capacity, accessModes, csi, claimRef },
    })
    const bound = { status: { phase: 'Bound' } }
    await client.patch(PersistentVolumeClaim, metadata, bound, { type: 'merge', subresource: 'status' })
    const pod = { namespace, name: 'pod' }
    await client.create(Pod, {
      metadata: pod,
      spec: {
        nodeName: node.name,
        containers: [{ name: 'c', image: 'i' }],
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'claim' } }],
      },
    })
    const find = async () =>
      (await client.list(VolumeAttachment)).items.find(
        ({ spec }) => spec?.source.persistentVolumeName === volume.name,
      )
    await eventually('it is asked for', async () => (await find()) !== undefined)
    const attachment = (await find())!
    assert.equal(attachment.spec?.nodeName, node.name)
    await client.updateStatus(VolumeAttachment, { ...attachment, status: { attached: true } })
    const isReported = async () => {
      const { volumesAttached = [] } = (await client.get(Node, node))?.status ?? {}
      return volumesAttached.some(({ name }) => name === `kubernetes.io/csi/disks.example.com^${namespace}`)
    }
    await eventually('the node knows', isReported)
    await client.delete(Pod, pod, { gracePeriodSeconds: 0 })
    await eventually('it is let go', async () => (await find()) === undefined && !(await isReported()))
    await client.delete(PersistentVolume, volume)
  })
})

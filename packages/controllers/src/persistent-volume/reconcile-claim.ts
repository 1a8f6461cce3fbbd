import { PersistentVolume, PersistentVolumeClaim } from '@coxswain/api/core/v1'
import { StorageClass } from '@coxswain/api/storage/v1'
import { formatKey } from '@coxswain/apimachinery/meta'
import { isPodTerminal } from '@coxswain/kinds'
import type { ReconcileContext } from '@coxswain/runtime'
import { bind, setClaimPhase } from './bind.ts'
import { findVolume, mismatchOf } from './find-volume.ts'
import {
  betaStorageProvisioner,
  bindCompleted,
  boundByController,
  type ClaimView,
  classNameOf,
  findDefaultClass,
  isMeantFor,
  isWithoutClass,
  keyOfClaim,
  listPodsWith,
  selectedNode,
  storageProvisioner,
} from './volumes.ts'

/** Finds or requests a volume for a claim, or verifies the volume that it is bound to. */
export async function reconcileClaim(context: ReconcileContext): Promise<void> {
  const claim = await context.client.get(PersistentVolumeClaim, context.key)
  if (!claim) return
  if (claim.metadata.annotations?.[bindCompleted] !== undefined) await keepBound(context, claim)
  else if (claim.metadata.deletionTimestamp) return
  else if (claim.spec?.volumeName) await bindToNamed(context, claim, claim.spec.volumeName)
  else await bindToAny(context, claim)
}

async function keepBound({ client, events }: ReconcileContext, claim: ClaimView): Promise<void> {
  const lose = async (reason: string, message: string) => {
    if (await setClaimPhase(client, claim, 'Lost')) events.warning(claim, reason, message)
  }
  const { volumeName } = claim.spec ?? {}
  if (!volumeName)
    return await lose(
      'ClaimLost',
      'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!',
    )
  // The cache may be stale: data loss is only reported if the server confirms it.
  const volume =
    (await client.get(PersistentVolume, { name: volumeName })) ??
    (await client.get(PersistentVolume, { name: volumeName }, { cached: false }))
  if (!volume)
    return await lose('ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!')
  if (!volume.spec?.claimRef || isMeantFor(volume, claim)) return await bind(client, volume, claim)
  await lose('ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly')
}

async function bindToNamed(
  { client, events }: ReconcileContext,
  claim: ClaimView,
  name: string,
): Promise<void> {
  const volume = await client.get(PersistentVolume, { name })
  if (volume && isMeantFor(volume, claim)) return await bind(client, volume, claim)
  if (volume && !volume.spec?.claimRef) {
    const mismatch = mismatchOf(volume, claim)
    if (mismatch === undefined) return await bind(client, volume, claim)
    events.warning(claim, 'VolumeMismatch', `Cannot bind to requested volume "${name}": ${mismatch}`)
  } else if (volume) {
    events.warning(claim, 'FailedBinding', `volume "${name}" already bound to a different claim.`)
    if (claim.metadata.annotations?.[boundByController] !== undefined)
      throw new Error(`invalid binding of claim "${formatKey(keyOfClaim(claim))}" to volume "${name}"`)
  }
  await setClaimPhase(client, claim, 'Pending')
}

async function bindToAny(context: ReconcileContext, claim: ClaimView): Promise<void> {
  const { client, events } = context
  const className = classNameOf(claim)
  const storageClass = className === '' ? undefined : await client.get(StorageClass, { name: className })
  const isDelayed = storageClass?.volumeBindingMode === 'WaitForFirstConsumer'
  const { items: volumes } = await client.list(PersistentVolume)
  const volume = findVolume(claim, volumes, { isDelayed })
  if (volume) return await bind(client, volume, claim)
  if (isWithoutClass(claim)) {
    const standard = await findDefaultClass(client)
    if (standard) {
      const spec = { ...claim.spec, storageClassName: standard.metadata.name }
      await client.update(PersistentVolumeClaim, { ...claim, spec })
      return
    }
  }
  if (isDelayed && claim.metadata.annotations?.[selectedNode] === undefined)
    await reportWaiting(context, claim)
  else if (className !== '') {
    await requestVolume(context, claim, storageClass?.provisioner)
    return
  } else {
    const message = 'no persistent volumes available for this claim and no storage class is set'
    events.normal(claim, 'FailedBinding', message)
  }
  await setClaimPhase(client, claim, 'Pending')
}

async function reportWaiting({ client, events }: ReconcileContext, claim: ClaimView): Promise<void> {
  const waiting = (await listPodsWith(client, claim)).filter(
    pod => !isPodTerminal(pod) && !pod.metadata.deletionTimestamp && !pod.spec.nodeName,
  )
  const names = waiting.map(({ metadata }) => metadata.name).sort()
  if (names.length === 0) {
    const message = 'waiting for first consumer to be created before binding'
    events.normal(claim, 'WaitForFirstConsumer', message)
  } else {
    const pods = names.length === 1 ? `pod ${names[0]}` : `pods ${names.join(',')}`
    events.normal(claim, 'WaitForPodScheduled', `waiting for ${pods} to be scheduled`)
  }
}

/** Leaves the claim to the provisioner of its class. */
async function requestVolume(
  { client, events }: ReconcileContext,
  claim: ClaimView,
  provisioner: string | undefined,
): Promise<void> {
  if (provisioner === undefined) {
    const message = `storageclass.storage.k8s.io "${classNameOf(claim)}" not found`
    events.warning(claim, 'ProvisioningFailed', message)
    await setClaimPhase(client, claim, 'Pending')
    return
  }
  if (provisioner.startsWith('kubernetes.io/')) {
    events.warning(claim, 'ProvisioningFailed', `no volume plugin matched name: ${provisioner}`)
    await setClaimPhase(client, claim, 'Pending')
    return
  }
  const { annotations = {} } = claim.metadata
  if (annotations[storageProvisioner] !== provisioner) {
    const added = { [storageProvisioner]: provisioner, [betaStorageProvisioner]: provisioner }
    const metadata = { ...claim.metadata, annotations: { ...annotations, ...added } }
    await client.update(PersistentVolumeClaim, { ...claim, metadata })
    return
  }
  const message = `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`
  events.normal(claim, 'ExternalProvisioning', message)
  await setClaimPhase(client, claim, 'Pending')
}

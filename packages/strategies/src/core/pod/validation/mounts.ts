import type { Container, VolumeMount } from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import type { Decoded } from '../../../decoded.ts'
import type { Findings } from '../../../shared/reading.ts'
import { validateDescendingPath } from './paths.ts'
import { isClaimVolume } from './remote-volumes.ts'
import type { KnownVolumes } from './volumes.ts'

/** Where a container sees volumes, as directories and as block devices. */
export function* validateMounts(
  container: Decoded<Container>,
  volumes: KnownVolumes,
  path: field.Path,
): Findings {
  const mounts = new Map(
    (container.volumeMounts ?? []).map(mount => [mount.name ?? '', mount.mountPath ?? '']),
  )
  const devices = new Map(
    (container.volumeDevices ?? []).map(device => [device.name ?? '', device.devicePath ?? '']),
  )
  yield* validateVolumeMounts(container, volumes, devices, path.child('volumeMounts'))
  yield* validateVolumeDevices(container, volumes, mounts, path.child('volumeDevices'))
}

function* validateVolumeMounts(
  container: Decoded<Container>,
  volumes: KnownVolumes,
  devices: ReadonlyMap<string, string>,
  path: field.Path,
): Findings {
  const seen = new Set<string>()
  const devicePaths = new Set(devices.values())
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const at = path.index(index)
    const name = mount.name ?? ''
    const target = mount.mountPath ?? ''
    if (name === '') yield field.required(at.child('name'))
    if (!volumes.has(name)) yield field.notFound(at.child('name'), name)
    if (target === '') yield field.required(at.child('mountPath'))
    if (seen.has(target)) yield field.invalid(at.child('mountPath'), target, 'must be unique')
    seen.add(target)
    if (devices.has(name))
      yield field.invalid(at.child('name'), name, 'must not already exist in volumeDevices')
    if (devicePaths.has(target)) {
      const message = 'must not already exist as a path in volumeDevices'
      yield field.invalid(at.child('mountPath'), target, message)
    }
    yield* validateSubPaths(mount, at, path)
    yield* validatePropagation(mount, container, path.child('mountPropagation'))
    yield* validateRecursiveReadOnly(mount, path.child('recursiveReadOnly'))
  }
}

function* validateSubPaths(mount: Decoded<VolumeMount>, at: field.Path, path: field.Path): Findings {
  const subPath = mount.subPath ?? ''
  const expression = mount.subPathExpr ?? ''
  if (subPath !== '') yield* validateDescendingPath(subPath, path.child('subPath'))
  if (expression === '') return
  if (subPath !== '') {
    const message = 'subPathExpr and subPath are mutually exclusive'
    yield field.invalid(at.child('subPathExpr'), expression, message)
  }
  yield* validateDescendingPath(expression, path.child('subPathExpr'))
}

const propagations = ['Bidirectional', 'HostToContainer', 'None']

function* validatePropagation(
  mount: Decoded<VolumeMount>,
  container: Decoded<Container>,
  path: field.Path,
): Findings {
  const mode = mount.mountPropagation
  if (mode === undefined) return
  if (!propagations.includes(mode ?? '')) yield field.notSupported(path, mode, propagations)
  if (mode === 'Bidirectional' && container.securityContext?.privileged !== true) {
    const message = 'Bidirectional mount propagation is available only to privileged containers'
    yield field.forbidden(path, message)
  }
}

function* validateRecursiveReadOnly(mount: Decoded<VolumeMount>, path: field.Path): Findings {
  const mode = mount.recursiveReadOnly
  if (mode === undefined || mode === 'Disabled') return
  if (mode !== 'Enabled' && mode !== 'IfPossible') {
    yield field.notSupported(path, mode, ['Disabled', 'Enabled', 'IfPossible'])
    return
  }
  if (mount.readOnly !== true) yield field.forbidden(path, 'may only be specified when readOnly is true')
  if (mount.mountPropagation !== undefined && mount.mountPropagation !== 'None')
    yield field.forbidden(path, 'may only be specified when mountPropagation is None or not specified')
}

function* validateVolumeDevices(
  container: Decoded<Container>,
  volumes: KnownVolumes,
  mounts: ReadonlyMap<string, string>,
  path: field.Path,
): Findings {
  const names = new Set<string>()
  const paths = new Set<string>()
  const mountPaths = new Set(mounts.values())
  for (const [index, device] of (container.volumeDevices ?? []).entries()) {
    const at = path.index(index)
    const name = device.name ?? ''
    const target = device.devicePath ?? ''
    const volume = volumes.get(name)
    if (name === '') yield field.required(at.child('name'))
    if (names.has(name)) yield field.invalid(at.child('name'), name, 'must be unique')
    if (volume && !isClaimVolume(volume)) {
      const message = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode'
      yield field.invalid(at.child('name'), name, message)
    }
    if (!volume) yield field.notFound(at.child('name'), name)
    if (target === '') yield field.required(at.child('devicePath'))
    if (paths.has(target)) yield field.invalid(at.child('devicePath'), target, 'must be unique')
    if (target.split('/').includes('..'))
      yield field.invalid(at.child('devicePath'), target, "can not contain backsteps ('..')")
    else paths.add(target)
    if (mounts.has(name))
      yield field.invalid(at.child('name'), name, 'must not already exist in volumeMounts')
    if (mountPaths.has(target)) {
      const message = 'must not already exist as a path in volumeMounts'
      yield field.invalid(at.child('devicePath'), target, message)
    }
    if (name !== '') names.add(name)
  }
}

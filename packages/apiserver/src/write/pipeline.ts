import type { Span } from '@coxswain/kit'
import { authorizeCreate } from '../authorization/authorize-create.ts'
import { applyDefaults, decode, receiveBody } from './body.ts'
import { checkName, checkUid, checkVersion } from './checks.ts'
import { type ApplyWrite, mergeConfiguration, reportRepeatedKeys } from './configuration.ts'
import { checkDeletion, convertDeleted, type Deletion, markForDeletion } from './deletion.ts'
import {
  admit,
  claim,
  dedupeAdmittedOwners,
  dedupeOwners,
  keepTimestamps,
  keepVersion,
  mutate,
  placeInNamespace,
  prepareForCreate,
  prepareForUpdate,
  trackManagedFields,
  validate,
  warn,
} from './lifecycle.ts'
import { metadataOf } from './metadata.ts'
import { decodePatched, expectPatchedVersion, type PatchWrite, patchObject } from './patching.ts'
import { storeApplied, storeNew } from './store-new.ts'
import type { Write } from './write.ts'

/** Steps that deletions have too. */
const admission = {
  mutate: { name: 'mutating admission', run: mutate },
  admit: { name: 'validating admission', run: admit },
}

type StepId =
  | 'receiveBody'
  | 'decode'
  | 'applyDefaults'
  | 'checkName'
  | 'ignoreZeroVersion'
  | 'placeInNamespace'
  | 'checkVersion'
  | 'checkUid'
  | 'dedupeOwners'
  | 'trackManagedFields'
  | 'mutate'
  | 'dedupeAdmittedOwners'
  | 'applyDefaultsAgain'
  | 'prepareForCreate'
  | 'claim'
  | 'prepareForUpdate'
  | 'keepVersion'
  | 'keepTimestamps'
  | 'validate'
  | 'warn'
  | 'authorizeCreate'
  | 'admit'
  | 'storeNew'
  | 'storeApplied'

/** The steps of creates and updates, with the names that the documentation uses. */
export const steps: Readonly<Record<StepId, Step<Write>>> = {
  receiveBody: { name: 'read body', run: receiveBody },
  decode: { name: 'decode', run: decode },
  applyDefaults: { name: 'default', run: applyDefaults },
  checkName: { name: 'check name', run: checkName },
  ignoreZeroVersion: { name: 'ignore version 0', run: ignoreZeroVersion },
  placeInNamespace: { name: 'place in namespace', run: placeInNamespace },
  checkVersion: { name: 'check resourceVersion', run: checkVersion },
  checkUid: { name: 'check uid', run: checkUid },
  dedupeOwners: { name: 'deduplicate owners', run: dedupeOwners },
  trackManagedFields: { name: 'track managed fields', run: trackManagedFields },
  mutate: admission.mutate,
  dedupeAdmittedOwners: { name: 'deduplicate owners again', run: dedupeAdmittedOwners },
  applyDefaultsAgain: { name: 'default again', run: applyDefaults },
  prepareForCreate: { name: 'prepare for create', run: prepareForCreate },
  claim: { name: 'claim', run: claim },
  prepareForUpdate: { name: 'prepare for update', run: prepareForUpdate },
  keepVersion: { name: 'keep resourceVersion', run: keepVersion },
  keepTimestamps: { name: 'keep timestamps', run: keepTimestamps },
  validate: { name: 'validate', run: validate },
  warn: { name: 'warn', run: warn },
  authorizeCreate: {
    name: 'authorize create',
    run: ({ ports, context }) => authorizeCreate(ports.authorizer, context),
  },
  admit: admission.admit,
  storeNew: { name: 'store', run: storeNew },
  storeApplied: { name: 'store', run: storeApplied },
}

const patchSteps = {
  patchObject: { name: 'apply patch', run: patchObject },
  decode: { name: 'decode', run: decodePatched },
  expectVersion: { name: 'expect patched version', run: expectPatchedVersion },
  checkType: {
    name: 'check type',
    run: ({ endpoint, object }) => endpoint.resource.checkType(endpoint, object),
  },
} satisfies Record<string, Step<PatchWrite>>

const applySteps = {
  merge: { name: 'merge configuration', run: mergeConfiguration },
  reportRepeatedKeys: { name: 'report repeated keys', run: reportRepeatedKeys },
} satisfies Record<string, Step<ApplyWrite>>

const deleteSteps = {
  check: { name: 'check preconditions', run: checkDeletion },
  convert: { name: 'convert', run: convertDeleted },
  mark: { name: 'mark for deletion', run: markForDeletion },
} satisfies Record<string, Step<Deletion>>

const received: readonly Step<Write>[] = [steps.receiveBody, steps.decode, steps.applyDefaults]

/** From admission to validation: the same for every changed object. */
const admitted: readonly Step<Write>[] = [steps.mutate, steps.dedupeAdmittedOwners, steps.applyDefaultsAgain]
const createdObject: readonly Step<Write>[] = [
  ...admitted,
  steps.prepareForCreate,
  steps.claim,
  steps.validate,
  steps.warn,
]
/** For objects that admission plug-ins have not changed. */
export const changedObject: readonly Step<Write>[] = [
  steps.claim,
  steps.prepareForUpdate,
  steps.keepVersion,
  steps.keepTimestamps,
  steps.validate,
  steps.warn,
]
const changed: readonly Step<Write>[] = [...admitted, ...changedObject, steps.admit]
/** The steps of an update with a complete object from the client. */
export const replacedObject: readonly Step<Write>[] = [
  steps.dedupeOwners,
  steps.trackManagedFields,
  ...changed,
]
const receivedObject: readonly Step<Write>[] = [
  steps.placeInNamespace,
  steps.dedupeOwners,
  steps.trackManagedFields,
  ...createdObject,
]

export interface Pipelines {
  readonly create: readonly Step<Write>[]
  /** An update of an object that does not exist yet, for kinds that allow create on update. */
  readonly createReceived: readonly Step<Write>[]
  /** The steps of an update that run once. */
  readonly receive: readonly Step<Write>[]
  readonly update: readonly Step<Write>[]
  readonly patch: readonly Step<PatchWrite>[]
  readonly apply: readonly Step<ApplyWrite>[]
  /** An apply of an object that does not exist yet. */
  readonly applyNew: readonly Step<ApplyWrite>[]
  readonly delete: readonly Step<Deletion>[]
  /** A deletion that admission has seen as another request, such as an eviction. */
  readonly deleteAdmitted: readonly Step<Deletion>[]
}

/**
 * The steps of every write, first to last. Those of `update`, `patch`, `apply` and `delete` run with the present
 * object, and again from the start when a concurrent write changes it before it is stored.
 */
export const pipelines: Pipelines = {
  create: [...received, ...receivedObject, steps.admit, steps.storeNew],
  createReceived: [...receivedObject, steps.authorizeCreate, steps.admit, steps.storeNew],
  receive: [...received, steps.checkName, steps.ignoreZeroVersion, steps.placeInNamespace],
  update: [steps.checkVersion, steps.checkUid, ...replacedObject],
  patch: [
    patchSteps.patchObject,
    patchSteps.decode,
    steps.applyDefaults,
    steps.checkName,
    patchSteps.expectVersion,
    steps.checkVersion,
    patchSteps.checkType,
    steps.placeInNamespace,
    ...replacedObject,
  ],
  apply: [
    steps.checkVersion,
    applySteps.merge,
    applySteps.reportRepeatedKeys,
    steps.decode,
    steps.applyDefaults,
    steps.placeInNamespace,
    steps.dedupeOwners,
    ...changed,
  ],
  applyNew: [
    applySteps.merge,
    applySteps.reportRepeatedKeys,
    steps.decode,
    steps.applyDefaults,
    steps.placeInNamespace,
    steps.dedupeOwners,
    ...createdObject,
    steps.authorizeCreate,
    steps.admit,
    steps.storeApplied,
  ],
  delete: [deleteSteps.check, deleteSteps.convert, admission.mutate, admission.admit, deleteSteps.mark],
  deleteAdmitted: [deleteSteps.check, deleteSteps.mark],
}

/** A resourceVersion of 0 means any. */
function ignoreZeroVersion({ object }: Write): void {
  if (metadataOf(object).resourceVersion === '0') delete metadataOf(object).resourceVersion
}

/** What the steps of a write share, as far as running them needs it. */
export interface Traceable {
  /** `span` is set where traces are made. */
  readonly context: { readonly span?: Span }
}

/** One named step of a write. It returns a promise only when it has to wait. */
export interface Step<W> {
  readonly name: string
  readonly run: (write: W) => Promise<void> | void
}

/** Runs the steps in order; returns a promise once a step has to wait. An error of a step ends the write. */
export function runSteps<W extends Traceable>(steps: readonly Step<W>[], write: W): Promise<void> | void {
  const { span } = write.context
  if (span?.isRecording) return traceSteps(steps, write, span)
  for (let i = 0; i < steps.length; i++) {
    const pending = steps[i]!.run(write)
    if (pending) return finishSteps(steps, write, { pending, next: i + 1 })
  }
}

async function finishSteps<W>(
  steps: readonly Step<W>[],
  write: W,
  from: { readonly pending: Promise<void>; readonly next: number },
): Promise<void> {
  await from.pending
  for (let i = from.next; i < steps.length; i++) {
    const pending = steps[i]!.run(write)
    if (pending) await pending
  }
}

/** Each step is an event of the span, when it is done. */
async function traceSteps<W>(steps: readonly Step<W>[], write: W, span: Span): Promise<void> {
  for (const { name, run } of steps) {
    await run(write)
    span.addEvent(name)
  }
}

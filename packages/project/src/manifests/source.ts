import type { AnyDefinedKind } from '@coxswain/apimachinery/kinds'
import type { Operator, OperatorDefinition, RecordedCall } from '@coxswain/runtime'
import type { GeneratedFile } from '../files/generated-file.ts'
import type { ProjectKind } from './kinds.ts'

/** What manifests say about the project as a whole. */
export interface ProjectInformation {
  /** The prefix of all names; `NAME-system` is the namespace. */
  readonly name: string
  /** The image of the manager. @default 'controller:latest' */
  readonly image?: string
  /** The domain of its API groups: files are named after what precedes it. */
  readonly domain?: string
  /** The arguments of `coxswain run` that name the operators. @default none: coxswain.config.ts names them */
  readonly operatorFiles?: readonly string[]
  /** The namespaces that the operators watch: their rights are Roles there. @default all: ClusterRoles */
  readonly namespaces?: readonly string[]
  /** Who makes the certificates of webhooks. @default 'coxswain': the operator itself */
  readonly certificates?: 'coxswain' | 'cert-manager'
}

/** The source of all manifests. */
export interface ManifestsInput {
  readonly operators: readonly Operator[]
  /** Kinds beside those of the operators. */
  readonly kinds?: readonly AnyDefinedKind[]
  readonly project: ProjectInformation
  /** Calls that tests recorded: what the operators may do beyond what they declare. */
  readonly calls?: readonly RecordedCall[]
  /** The folder of the manifests, relative to the project. @default 'config' */
  readonly folder?: string
  /** Fields with other feature gates are left out of CRDs. @default none are enabled */
  readonly featureGates?: readonly string[]
  /** Truncates descriptions in CRDs; 0 omits them. @default as they are */
  readonly maxDescriptionLength?: number
}

/** What the generators of the files work from. */
export interface ManifestsSource extends ManifestsInput {
  readonly definitions: readonly OperatorDefinition[]
  readonly projectKinds: readonly ProjectKind[]
  readonly folder: string
}

/** The files of a project's manifests. Paths are relative to the project's folder. */
export interface Manifests {
  /** Rewritten by every run. */
  readonly generated: readonly GeneratedFile[]
  /** Created when they are missing; the author's from then on. */
  readonly owned: readonly GeneratedFile[]
}

import { brandErrors, CodedError, type IsError } from '@coxswain/kit'

/** The codes of {@link ProjectError}. */
export type ProjectErrorCode =
  /** A CustomResourceDefinition is malformed; the message names the field. */
  | 'BadDefinition'
  /** A generated file has a path that is absolute or leads out of the project's folder. */
  | 'BadPath'
  /** Manifests cannot be generated: nothing to generate, two kinds of one name, or what no server would accept. */
  | 'BadManifests'
  /** A PROJECT file cannot be read, or what it names is missing. */
  | 'BadProject'
  /** A file could not be written; nothing was changed. */
  | 'NotWritten'
  /** A manifest is not a Kubernetes object, or lacks what is needed. */
  | 'BadManifest'
  /** The server rejected an object. */
  | 'NotApplied'
  /** The server does not serve the kind of a CustomResourceDefinition in time. */
  | 'NotEstablished'
  /** A Deployment, StatefulSet or DaemonSet is not rolled out in time. */
  | 'NotReady'
  /** An object is not deleted in time. */
  | 'NotDeleted'
  /** A name of a project, group, version or kind cannot be used. */
  | 'BadName'
  /** What should be created exists already. */
  | 'Exists'
  /** A file lacks the line that marks where text is inserted. */
  | 'NoMarker'
  /** PROJECT, package.json or the stored scaffold cannot be read, a dependency is not installed, or a symbolic link leads out of the folder. */
  | 'BadProject'
  /** Another tool uses the ConfigMap that records what was applied. */
  | 'ForeignApplySet'
  /** The name of an image, a base image or a platform is not valid. */
  | 'BadReference'
  /** An image is damaged, is in an unknown format, or does not exist for a platform. */
  | 'BadImage'
  /** A registry did not accept the credentials, or requires some. */
  | 'RegistryDenied'
  /** A registry could not be reached, or its answer is not what the distribution specification says. */
  | 'RegistryFailed'

/** An error of this package. Callers decide by `code`. */
export class ProjectError extends CodedError<ProjectErrorCode> {
  override readonly name: string = 'ProjectError'
}

/** True also for an error made by another copy of this package. With `code`, only for that code. */
export const isProjectError: IsError<ProjectError> = brandErrors(
  ProjectError,
  'coxswain.project.ProjectError',
)

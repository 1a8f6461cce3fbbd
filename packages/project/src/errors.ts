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

/** An error of this package. Callers decide by `code`. */
export class ProjectError extends CodedError<ProjectErrorCode> {
  override readonly name: string = 'ProjectError'
}

/** True also for an error made by another copy of this package. With `code`, only for that code. */
export const isProjectError: IsError<ProjectError> = brandErrors(
  ProjectError,
  'coxswain.project.ProjectError',
)

import { brandErrors, CodedError, type IsError } from '@coxswain/kit'

/** The codes of {@link ProjectError}. */
export type ProjectErrorCode =
  /** A generated file has a path that is absolute or leads out of the project's folder. */
  | 'BadPath'
  /** A file could not be written; nothing was changed. */
  | 'NotWritten'
  /** The name of an image, a base image or a platform is not valid. */
  | 'BadReference'
  /** An image is damaged, is in an unknown format, or does not exist for a platform. */
  | 'BadImage'
  /** The folder cannot become an image: a dependency is not installed, or a symbolic link leads out of it. */
  | 'BadProject'
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

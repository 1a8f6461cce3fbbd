/** A file of a project, not yet written. */
export interface GeneratedFile {
  /** Relative to the project's folder, with `/` between the parts and without `.` and `..`. */
  readonly path: string
  readonly content: string | Uint8Array
  /** Sets the executable bits. @default false */
  readonly executable?: boolean
}

import type { Verb } from '@coxswain/apimachinery/kinds'

/** The served resources of one group, in the order of discovery. */
export interface GroupRows {
  /** Empty for the core group. */
  readonly group: string
  /** In the order of preference. All resources of a built-in group are served in each of its versions. */
  readonly versions: readonly string[]
  readonly resources: readonly ResourceRow[]
}

/** A served built-in resource, as short as it can be said. */
export interface ResourceRow {
  readonly resource: string
  readonly kind: string
  /** What the kind is for, in one sentence. */
  readonly about: string
  /** Cluster-scoped. */
  readonly cluster?: true
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  /** @default all eight */
  readonly verbs?: readonly Verb[]
  /**
   * `NAME`, then the kind it speaks if it is not the parent's (`Kind` or `group/version/Kind`), then `: verbs` if they are
   * not get, patch and update.
   */
  readonly subresources?: readonly string[]
  /** `Name` then `#` integer, `?` boolean, `@` date, then `:format`, then `+` for wide output only; joined by `|`. */
  readonly columns?: string
  /** The fields beyond name and namespace that can be selected by, joined by blanks. */
  readonly fields?: string
  /** Upstream's OpenAPI says that a delete answers with the object. */
  readonly documentsDeleted?: true
  /** Where upstream stores it, when that is not the preferred version: discovery's storage hash tells. */
  readonly storedAs?: { readonly group: string; readonly version: string }
}

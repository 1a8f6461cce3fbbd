import type { FieldError, NameValidator } from '@coxswain/apimachinery'
import type { Clock, Random } from '@coxswain/kit'
import type { JsonObject } from '../json.ts'

/** What a strategy may use besides the object. */
export interface StrategyContext {
  readonly clock: Clock
  readonly random: Random
}

/** How long an object lingers after a delete, in seconds; undefined when it goes at once. */
export type GracePeriod = (object: JsonObject, requested: number | undefined) => number | undefined

/**
 * The rules of a kind that its schema cannot tell. Everything is optional; a kind without a file of its own goes by
 * its schema alone. Functions may change `object`, never `old`.
 */
export interface Strategy {
  /** Fills in what the author left out. Runs on every object that comes in, and must change nothing the second time. */
  readonly default?: (object: JsonObject) => void
  /** Clears or sets what only the server decides. */
  readonly prepareForCreate?: (object: JsonObject, context: StrategyContext) => void
  readonly prepareForUpdate?: (object: JsonObject, old: JsonObject, context: StrategyContext) => void
  readonly validate?: (object: JsonObject) => readonly FieldError[]
  readonly validateUpdate?: (object: JsonObject, old: JsonObject) => readonly FieldError[]
  readonly prepareForStatusUpdate?: (object: JsonObject, old: JsonObject, context: StrategyContext) => void
  /** Values of the selectable fields that are not plain paths into the object. */
  readonly fields?: (object: JsonObject) => Readonly<Record<string, string>>
  /** The cells of a table row, in the order of the kind's columns. */
  readonly cells?: (object: JsonObject, now: number) => readonly unknown[]
  /** Names in general are DNS subdomains. */
  readonly validateName?: NameValidator
  /** Whether a PUT to a name that does not exist creates the object. @default false */
  readonly createOnUpdate?: boolean
  /** Whether an update without a resourceVersion is taken. @default true */
  readonly unconditionalUpdate?: boolean
  /** @default gone at once */
  readonly gracePeriod?: GracePeriod
  /** Whether something other than finalizers and grace keeps an object that is to be deleted. */
  readonly holdsDeletion?: (object: JsonObject) => boolean
  /** Marks an object that now waits for its end. */
  readonly prepareForDelete?: (object: JsonObject) => void
  /** How long a new object lives, in milliseconds. @default for ever */
  readonly ttl?: number
  /** Whether DELETE answers with the object instead of a Status. @default false */
  readonly returnsDeleted?: boolean
  /** What `metadata.generation` follows. @default spec, where the kind has a status subresource */
  readonly generation?: 'spec' | 'none'
  /** What a delete does with dependents when the client does not say. @default background */
  readonly propagation?: 'orphan' | 'background'
}

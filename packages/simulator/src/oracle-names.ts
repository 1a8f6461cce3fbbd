/** What each oracle says, for `--help` and the documentation. */
export const oracleTexts = {
  'same-end': 'whatever went wrong, the state ends where it ends when nothing goes wrong',
  'same-after-restart': 'restarting the operator when it has settled changes nothing',
  'clean-deletion':
    'deleting its objects leaves behind what it leaves behind when nothing goes wrong: nothing owned, and no finalizer',
  'nothing-left':
    'when all of its objects are deleted, nothing that it created without an owner is left; namespaces and volumes apart',
  'same-as-direct':
    'changing an object several times ends where creating it with its last spec ends; objects that report completion are not compared',
  settles: 'it comes to rest, and then writes nothing',
  'observed-generation': '`status.observedGeneration` catches up with the generation',
  'stale-write': 'no update without a resourceVersion replaces a state that the operator has not seen',
  'cached-objects': 'objects of the cache are not changed in place',
  exceptions: 'no reconcile throws a TypeError, RangeError, ReferenceError or SyntaxError',
  'unhandled-rejection': 'no promise is rejected without a handler',
  timers: 'nothing of the operator runs on after it has stopped',
  steps: 'it does not spin: there is a bound on steps without time passing',
  always: 'the invariants of the author hold after every write',
  scenario: 'what users do succeeds',
} as const

/** The name of an oracle. */
export type OracleName = keyof typeof oracleTexts

/** The names of the oracles: what is checked of every run. */
export const oracleNames: readonly OracleName[] = Object.keys(oracleTexts) as OracleName[]

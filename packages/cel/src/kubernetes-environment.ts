import { createEnvironment, type Environment } from './environment.ts'
import { type Library, overload } from './functions.ts'
import { authorizerLibrary } from './libraries/authorizer.ts'
import { formatLibrary } from './libraries/format.ts'
import { kubernetesListsLibrary, listsLibrary, setsLibrary } from './libraries/lists.ts'
import { networkLibrary } from './libraries/network.ts'
import { quantityLibrary } from './libraries/quantity.ts'
import { regexLibrary } from './libraries/regex.ts'
import { semverLibrary } from './libraries/semver.ts'
import { stringsLibrary } from './libraries/strings.ts'
import { urlLibrary } from './libraries/url.ts'
import { optionalLibrary } from './optionals.ts'
import { standardLibrary } from './stdlib.ts'
import { fault } from './values.ts'

/** Switches on the macros over two variables. */
export const twoVariableLibrary: Library = {
  name: 'twovar',
  // The compiler turns these calls into loops; the declarations are for the checker.
  overloads: [
    overload('@mapInsert_map_map', 'cel.@mapInsert(map<K, V>, map<K, V>): map<K, V>', () =>
      fault('unbound function'),
    ),
    overload('@mapInsert_map_key_value', 'cel.@mapInsert(map<K, V>, K, V): map<K, V>', () =>
      fault('unbound function'),
    ),
  ],
}
/** Switches on cel.bind. Not part of Kubernetes' environment. */
export const bindingsLibrary: Library = { name: 'bindings', overloads: [] }

/** The libraries of Kubernetes 1.36. */
export const kubernetesLibraries: readonly Library[] = [
  standardLibrary,
  urlLibrary,
  regexLibrary,
  kubernetesListsLibrary,
  authorizerLibrary,
  optionalLibrary,
  quantityLibrary,
  stringsLibrary,
  setsLibrary,
  networkLibrary,
  formatLibrary,
  twoVariableLibrary,
  semverLibrary,
  listsLibrary,
]

let environment: Environment | undefined

/** What Kubernetes 1.36 offers to every expression, the variables aside. */
export function kubernetesEnvironment(): Environment {
  environment ??= createEnvironment({ libraries: kubernetesLibraries, strictLiterals: true })
  return environment
}

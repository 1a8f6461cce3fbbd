import { createEnvironment, type Environment } from './environment.ts'
import type { Library } from './functions.ts'
import { optionalLibrary } from './optionals.ts'
import { standardLibrary } from './stdlib.ts'

/** Switches on the macros over two variables. */
export const twoVariableLibrary: Library = { name: 'twovar', overloads: [] }
/** Switches on cel.bind. Not part of Kubernetes' environment. */
export const bindingsLibrary: Library = { name: 'bindings', overloads: [] }

export const kubernetesLibraries: readonly Library[] = [standardLibrary, optionalLibrary, twoVariableLibrary]

let environment: Environment | undefined

/** What Kubernetes 1.36 offers to every expression, the variables aside. */
export function kubernetesEnvironment(): Environment {
  environment ??= createEnvironment({ libraries: kubernetesLibraries, homogeneousLiterals: true })
  return environment
}

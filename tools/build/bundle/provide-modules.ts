import { registerHooks } from 'node:module'

const scheme = 'coxswain-module:'

/** Makes imports of these names, by any file, lead to the modules of this program. A module is run when it is first imported. */
export function provideModules(modules: Readonly<Record<string, () => object>>): void {
  const provided = new Map<string, object>()
  const open = (name: string) => {
    const module = provided.get(name) ?? modules[name]!()
    provided.set(name, module)
    return module
  }
  Object.defineProperty(globalThis, Symbol.for(scheme), { value: open })
  registerHooks({
    resolve: (specifier, context, next) =>
      Object.hasOwn(modules, specifier)
        ? { url: `${scheme}${specifier}`, format: 'module', shortCircuit: true }
        : next(specifier, context),
    load: (url, context, next) =>
      url.startsWith(scheme)
        ? { format: 'module', source: sourceOf(url.slice(scheme.length), open), shortCircuit: true }
        : next(url, context),
  })
}

/** A module that exports what the provided one does. */
function sourceOf(name: string, open: (name: string) => object): string {
  const names = Object.keys(open(name)).filter(each => each !== 'default')
  return [
    `const module = globalThis[Symbol.for(${JSON.stringify(scheme)})](${JSON.stringify(name)})`,
    `export const { ${names.join(', ')} } = module`,
  ].join('\n')
}

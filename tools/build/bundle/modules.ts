/** By the name that operators import. The build of the executable replaces this file: its table has every entry point of every package. */
export const modules: Readonly<Record<string, () => object>> = {}

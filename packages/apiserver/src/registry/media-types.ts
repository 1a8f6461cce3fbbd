export const jsonPatch = 'application/json-patch+json'
export const mergePatch = 'application/merge-patch+json'
export const strategicPatch = 'application/strategic-merge-patch+json'
export const applyPatch = 'application/apply-patch+yaml'

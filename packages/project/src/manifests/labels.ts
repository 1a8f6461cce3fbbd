/** The labels of everything that belongs to a project. */
export function projectLabels(project: string): Record<string, string> {
  return { 'app.kubernetes.io/managed-by': 'kustomize', 'app.kubernetes.io/name': project }
}

/** The labels of the manager's Pods. */
export function managerLabels(project: string): Record<string, string> {
  return { 'app.kubernetes.io/name': project, 'control-plane': 'controller-manager' }
}

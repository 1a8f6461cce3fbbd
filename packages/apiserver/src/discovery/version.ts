/**
 * `/version`: the release of Kubernetes that this server behaves like, with the data of its official build.
 * `kubectl --match-server-version` compares version, commit and tree state with its own. `coxswain --version` prints
 * the version of Coxswain.
 */
export const versionInfo = {
  major: '1',
  minor: '36',
  emulationMajor: '1',
  emulationMinor: '36',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '35',
  gitVersion: 'v1.36.4',
  gitCommit: 'bb826b1d48562f110659e64e8ec444327433db95',
  gitTreeState: 'clean',
  buildDate: '2026-08-20T03:08:41Z',
  goVersion: 'go1.26.5',
  compiler: 'gc',
  platform: 'linux/amd64',
} as const

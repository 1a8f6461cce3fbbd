import type { GeneratedFile } from '../files/generated-file.ts'
import { markerOf } from './insert.ts'
import type { ProjectFile } from './project-file.ts'
import { readme } from './readme.ts'

/** The version of this scaffold: that of the package. */
export const scaffoldVersion = '0.1.0'

/** Not spelled in templates: the build rewrites the extension of imports. */
export const extension = '.ts'

/** What every project begins with. */
export function projectFiles(project: Pick<ProjectFile, 'projectName'>): GeneratedFile[] {
  const { projectName: name } = project
  return [
    { path: 'operator.ts', content: operator(name) },
    { path: 'coxswain.config.ts', content: config },
    { path: 'package.json', content: `${JSON.stringify(packageJson(name), undefined, 2)}\n` },
    { path: 'tsconfig.json', content: `${JSON.stringify(tsconfig, undefined, 2)}\n` },
    { path: 'Dockerfile', content: dockerfile },
    { path: '.dockerignore', content: dockerignore },
    { path: '.gitignore', content: gitignore },
    { path: '.github/workflows/test.yml', content: workflow },
    { path: '.devcontainer/devcontainer.json', content: `${JSON.stringify(devcontainer, undefined, 2)}\n` },
    { path: 'README.md', content: readme(name) },
  ]
}

const operator = (name: string) => `import { defineOperator } from 'coxswain'
${markerOf('imports')}

export default defineOperator('${name}', operator => {
  ${markerOf('controllers')}
  ${markerOf('webhooks')}
})
`

const config = `import { defineConfig } from 'coxswain'

// The flags of coxswain run, in camel case. Flags and environment variables take precedence.
export default defineConfig({
  operators: ['operator.ts'],
  ${markerOf('settings')}
})
`

/** The members that package.json needs; those of the author stay. `install` would run with every npm install, hence install:crds. */
export function packageJson(name: string): Record<string, unknown> {
  return {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node: '>=24' },
    scripts: {
      manifests: 'coxswain manifests',
      'install:crds': 'coxswain install',
      'uninstall:crds': 'coxswain uninstall',
      run: 'coxswain run',
      dev: 'coxswain dev',
      test: 'node --test',
      typecheck: 'tsc',
      'docker-build': `docker build -t "\${IMG:-controller:latest}" .`,
      'docker-push': `docker push "\${IMG:-controller:latest}"`,
      deploy: 'coxswain deploy',
      undeploy: 'coxswain undeploy',
      'build-installer': 'coxswain build-installer',
    },
    dependencies: { '@coxswain/api': scaffoldVersion, coxswain: scaffoldVersion },
    devDependencies: { '@types/node': '26.6.6', typescript: '7.0.2' },
  }
}

const tsconfig = {
  compilerOptions: {
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
  },
  include: ['**/*.ts'],
}

const dockerfile = `# coxswain image build needs no Dockerfile; this one is for docker build.
FROM node:26-slim
ENV NODE_ENV=production
WORKDIR /app
COPY package*.json ./
RUN npm ci --omit=dev
COPY . .
# A number: Kubernetes cannot tell from a name whether it is root.
USER 65532:65532
ENTRYPOINT ["node", "node_modules/coxswain/bin/coxswain.js"]
`

const dockerignore = `**
!package*.json
!*.ts
!api/**
!controllers/**
!webhooks/**
**/*.test.ts
`

const gitignore = `node_modules/
.coxswain/
*.kubeconfig
`

const workflow = `name: test
on:
  push:
  pull_request:
jobs:
  test:
    runs-on: ubuntu-latest
    permissions:
      contents: read
    steps:
      - uses: actions/checkout@v6
      - uses: actions/setup-node@v6
        with:
          node-version: 26
          cache: npm
      - run: npm ci
      - run: npm run typecheck
      - run: npm test
      - run: npm run manifests -- --check
`

const devcontainer = {
  name: 'operator',
  image: 'mcr.microsoft.com/devcontainers/javascript-node:24',
  features: { 'ghcr.io/devcontainers/features/kubectl-helm-minikube:1': { minikube: 'none', helm: 'none' } },
  postCreateCommand: 'npm install',
}

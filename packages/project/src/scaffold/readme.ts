/** The README of a project. */
export const readme = (name: string): string => `# ${name}

A Kubernetes operator in TypeScript, written with coxswain.

| | |
|---|---|
| \`api/\` | the kinds: fields, validation and defaults, from which types and CustomResourceDefinitions follow |
| \`controllers/\` | what the operator does for each object, with tests on a virtual clock |
| \`webhooks/\` | defaulting, validation and conversion |
| \`operator.ts\` | puts them together |
| \`config/\` | the manifests, written by \`npm run manifests\` |

## Develop

You need Node 24 or later.

    npm install
    npm test                  # in a cluster inside the test's own process
    npm run typecheck
    npm run dev               # a control plane on this machine; the operator restarts when a file is saved

Add a kind, and webhooks for it:

    npx coxswain create api --group crew --version v1 --kind Captain
    npx coxswain create webhook --group crew --version v1 --kind Captain --defaulting --validating
    npm run manifests

The samples in \`config/samples\` are for \`npx coxswain apply -k config/samples\`.

## Deploy

To the cluster of your kubeconfig, with an image that it can pull:

    export IMG=registry.example.com/${name}:v1
    npm run docker-build && npm run docker-push
    npm run deploy -- --image $IMG

\`deploy\` applies \`config/default\`, deletes what an earlier deployment applied and this one no longer has, and waits until the operator
is ready. \`npm run undeploy\` deletes everything again, and asks before it deletes objects of your kinds.

To run the operator on your machine against a cluster, install the CustomResourceDefinitions first:

    npm run install:crds
    npm run run

## Ship

\`npm run build-installer -- --image $IMG\` writes \`dist/install.yaml\`, which users apply with
\`kubectl apply --server-side -f dist/install.yaml\`.

## Upgrade

After an update of coxswain, \`npx coxswain upgrade\` merges what changed in the scaffold into these files. \`.coxswain-scaffold.json\`
holds the files as they were scaffolded: commit it.
`

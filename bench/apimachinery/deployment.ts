/** A Deployment as people write them: two containers with probes, resources, variables and volumes. About 4 kB. */
export function typicalDeployment(): Record<string, unknown> {
  const labels = { 'app.kubernetes.io/name': 'shop', 'app.kubernetes.io/component': 'web', tier: 'front' }
  const container = (name: string, port: number) => ({
    name,
    image: `registry.example.com/shop/${name}:1.27.3`,
    imagePullPolicy: 'IfNotPresent',
    args: ['--listen', `:${port}`, '--log-level=info', '--config=/etc/shop/config.yaml'],
    ports: [{ name: 'http', containerPort: port, protocol: 'TCP' }],
    env: [
      { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
      { name: 'DB_PASSWORD', valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } },
      ...Array.from({ length: 6 }, (_, i) => ({ name: `SETTING_${i}`, value: `the value of setting ${i}` })),
    ],
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '1', memory: '512Mi' } },
    readinessProbe: { httpGet: { path: '/readyz', port: 'http', scheme: 'HTTP' }, periodSeconds: 5 },
    livenessProbe: { httpGet: { path: '/healthz', port }, initialDelaySeconds: 10, failureThreshold: 3 },
    volumeMounts: [{ name: 'config', mountPath: '/etc/shop', readOnly: true }],
    securityContext: { runAsNonRoot: true, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  })
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'shop-web', namespace: 'shop', labels, annotations: { 'example.com/owner': 'team-a' } },
    spec: {
      replicas: 3,
      revisionHistoryLimit: 5,
      selector: { matchLabels: labels },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } },
      template: {
        metadata: { labels },
        spec: {
          containers: [container('web', 8080), container('proxy', 9090)],
          volumes: [
            { name: 'config', configMap: { name: 'shop-config', defaultMode: 420 } },
            { name: 'cache', emptyDir: { sizeLimit: '1Gi' } },
          ],
          serviceAccountName: 'shop',
          terminationGracePeriodSeconds: 30,
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'topology.kubernetes.io/zone',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: labels },
            },
          ],
        },
      },
    },
  }
}

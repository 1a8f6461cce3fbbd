/** A pod as a Deployment would make it: about 2.2 KB as posted. */
export function createPod(name: string, namespace: string, version = 0): object {
  const labels = {
    app: 'web',
    'app.kubernetes.io/name': 'web',
    'app.kubernetes.io/part-of': 'shop',
    tier: `tier-${name.charCodeAt(name.length - 1) % 10}`,
    'pod-template-hash': '5d9c7b8f6d',
  }
  const probe = (path: string) => ({
    httpGet: { path, port: 8080, scheme: 'HTTP' },
    initialDelaySeconds: 5,
    periodSeconds: 10,
    timeoutSeconds: 1,
    successThreshold: 1,
    failureThreshold: 3,
  })
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      labels,
      annotations: {
        'example.com/checksum': '4b227777d4dd1fc61c6f884f48641d02b4d121d3fd328cb08b5531fcacdabf8a',
        'example.com/version': String(version).padStart(8, '0'),
      },
    },
    spec: {
      containers: [
        {
          name: 'web',
          image: 'example.com/shop/web:1.27.3',
          args: ['--port=8080', '--log-format=json', '--graceful-timeout=30s'],
          env: [
            { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
            { name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: 'database', key: 'url' } } },
            { name: 'CACHE_URL', value: 'redis://cache.shop.svc.cluster.local:6379/0' },
          ],
          ports: [
            { name: 'http', containerPort: 8080, protocol: 'TCP' },
            { name: 'metrics', containerPort: 9090, protocol: 'TCP' },
          ],
          resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '1', memory: '512Mi' } },
          readinessProbe: probe('/readyz'),
          livenessProbe: probe('/livez'),
          volumeMounts: [
            { name: 'config', mountPath: '/etc/web', readOnly: true },
            { name: 'tmp', mountPath: '/tmp' },
          ],
          imagePullPolicy: 'IfNotPresent',
        },
      ],
      volumes: [
        { name: 'config', configMap: { name: 'web', defaultMode: 420 } },
        { name: 'tmp', emptyDir: {} },
      ],
      automountServiceAccountToken: false,
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      securityContext: { runAsNonRoot: true, runAsUser: 1000 },
    },
  }
}

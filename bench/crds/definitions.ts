/** A definition as operators have them: some twenty kilobytes, with defaults, patterns and rules. */
export function makeDefinition(index: number): object {
  const plural = `widgets${index}`
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.group${index % 50}.example.com` },
    spec: {
      group: `group${index % 50}.example.com`,
      scope: 'Namespaced',
      names: { plural, kind: `Widget${index}` },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: [{ name: 'Phase', type: 'string', jsonPath: '.status.phase' }],
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: section('spec'),
                status: { type: 'object', properties: { phase: { type: 'string' } } },
              },
            },
          },
        },
      ],
    },
  }
}

function section(name: string): object {
  const properties = Object.fromEntries(
    Array.from({ length: 10 }, (_, i) => [`${name}${i}`, { type: 'object', properties: fields(), ...rule }]),
  )
  return { type: 'object', properties }
}

const rule = {
  'x-kubernetes-validations': [{ rule: '!has(self.min) || !has(self.max) || self.min <= self.max' }],
}

function fields(): object {
  const description =
    'What this field means, in about as many words as most definitions use to say such a thing.'
  return {
    min: { type: 'integer', description },
    max: { type: 'integer', description, default: 3 },
    name: { type: 'string', description, maxLength: 63, pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$' },
    labels: { type: 'object', description, additionalProperties: { type: 'string' } },
    items: {
      type: 'array',
      description,
      maxItems: 16,
      items: {
        type: 'object',
        required: ['key'],
        properties: { key: { type: 'string', description }, value: { type: 'string', description } },
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['key'],
    },
    mode: { type: 'string', description, enum: ['Always', 'Never'] },
  }
}

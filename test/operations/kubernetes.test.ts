import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { settings } from '../../config/environment.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';

type Labels = Readonly<Record<string, string>>;
type Variable = {
  readonly name: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
};
type Container = {
  readonly args: readonly string[];
  readonly env: readonly Variable[];
  readonly envFrom?: readonly { readonly secretRef: { readonly name: string } }[];
  readonly resources: { readonly requests: Labels; readonly limits: Labels };
  readonly securityContext: Readonly<Record<string, unknown>>;
} & Readonly<Record<'startupProbe' | 'livenessProbe' | 'readinessProbe', unknown>>;
type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas?: number;
    readonly strategy?: unknown;
    readonly selector?: { readonly matchLabels: Labels };
    readonly maxUnavailable?: number;
    readonly podSelector?: object;
    readonly policyTypes?: readonly string[];
    readonly template: {
      readonly metadata: { readonly labels: Labels };
      readonly spec: { readonly containers: readonly Container[]; readonly securityContext: object };
    };
  };
};

const FOLDER = join(PROJECT_ROOT, 'ops/kubernetes');
const textOf = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
const kustomization = parse(textOf('kustomization.yml')) as { readonly resources: readonly string[] };
const manifests = kustomization.resources.flatMap((file) =>
  parseAllDocuments(textOf(file)).map((document) => document.toJS() as Manifest),
);
const ofKind = (kind: string) => manifests.filter((each) => each.kind === kind);
const deployments = ofKind('Deployment');
const workloads = [...deployments, ...ofKind('Job')].map(({ metadata, spec }) => {
  const [container] = spec.template.spec.containers;
  if (!container) throw new Error(`${metadata.name} has no container`);
  return { name: metadata.name, pod: spec.template.spec, labels: spec.template.metadata.labels, container };
});

/** Kubernetes refuses a field that it does not know, and so does the compiler in a literal. */
function faultsOf(documents: readonly Manifest[]): readonly string[] {
  const source = documents.map((each, index) => {
    const [, group = 'core', version] = /^(?:([a-z]+)[a-z0-9.]*[/])?(v\d+)$/.exec(each.apiVersion) ?? [];
    return `const _${index}: import('kubernetes-types/${group}/${version}').${each.kind} = ${JSON.stringify(each)};`;
  });
  const file = join(PROJECT_ROOT, 'manifests.ts');
  const options: ts.CompilerOptions = { strict: true, skipLibCheck: true, types: [], lib: ['lib.es5.d.ts'] };
  const host = ts.createCompilerHost({ ...options, moduleResolution: ts.ModuleResolutionKind.Bundler });
  const { getSourceFile } = host;
  host.getSourceFile = (path, ...rest) =>
    path === file ? ts.createSourceFile(path, source.join('\n'), ts.ScriptTarget.ES2022) : getSourceFile(path, ...rest);
  const program = ts.createProgram([file], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

test('every manifest has the form that Kubernetes asks for', () => {
  expect(kustomization.resources.toSorted()).toEqual(
    readdirSync(FOLDER)
      .filter((name) => name !== 'kustomization.yml')
      .sort(),
  );
  const [wrong] = deployments.map((each) => ({ ...each, spec: { ...each.spec, replcas: 2 } }));
  expect(faultsOf(wrong ? [...manifests, wrong] : [])).toEqual([expect.stringMatching(/"replcas".+ does not exist/)]);
});

test('each process of ours runs as in compose, with settings that it knows and the secrets that it needs', () => {
  const compose = parse(readFileSync(join(PROJECT_ROOT, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
    readonly services: Readonly<
      Record<
        string,
        { readonly image: string; readonly command: readonly string[]; readonly profiles?: readonly string[] }
      >
    >;
  };
  const ours = Object.entries(compose.services).filter(
    ([, { image, profiles }]) => image === 'pool-trading-data-api' && !profiles,
  );
  expect(Object.fromEntries(workloads.map(({ name, container }) => [name, container.args]))).toEqual(
    Object.fromEntries(ours.map(([name, { command }]) => [name, command])),
  );
  for (const { name, container } of workloads) {
    for (const { name: setting, valueFrom } of container.env) {
      expect(Object.keys(settings), name).toContain(setting);
      expect(/URL$/.test(setting), setting).toBe(valueFrom !== undefined);
      if (setting === 'REDIS_URL') {
        const key = name === 'capture' ? 'CAPTURE_REDIS_URL' : setting;
        // Capture runs without, too.
        expect(valueFrom?.secretKeyRef).toEqual({ name: 'redis', key, ...(name === 'capture' && { optional: true }) });
      }
      if (setting === 'DATABASE_URL') expect(valueFrom?.secretKeyRef.key).toBe(`${name.toUpperCase()}_DATABASE_URL`);
    }
    const secrets = [container.envFrom?.map(({ secretRef }) => secretRef.name)].flat();
    expect(secrets, name).toEqual([name === 'migrate' ? undefined : 'chains']);
  }
});

test('the page for operators makes the secrets and the chains file that the pods name', () => {
  const page = readFileSync(join(PROJECT_ROOT, 'docs/run/install.md'), 'utf8');
  const made = [...page.matchAll(/create (?:secret generic|configmap) (\w+)/g)].map(([, name]) => name);
  const named = JSON.stringify(workloads).matchAll(/"(?:secretKeyRef|secretRef|configMap)":\{"name":"(\w+)"/g);
  expect([...new Set(made)].sort()).toEqual([...new Set([...named].map(([, name]) => name))].sort());
});

test('no pod is root, writes to its image, or takes memory without end', () => {
  for (const { name, pod, container } of workloads) {
    expect(pod.securityContext, name).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(container.securityContext, name).toEqual({
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
    });
    for (const quantity of Object.values({ ...container.resources.requests, ...container.resources.limits }))
      expect(quantity, name).toMatch(/^\d+(m|Mi|Gi)?$/);
    expect(Object.keys(container.resources.limits), name).toEqual(['memory', 'ephemeral-storage']);
  }
});

test('what stays is probed, one at a time is evicted, and an index has one writer', () => {
  const probe = expect.objectContaining({ httpGet: { path: '/health', port: 'operations' } });
  for (const { metadata, spec } of deployments) {
    const [container] = spec.template.spec.containers;
    expect(container).toMatchObject({ startupProbe: probe, livenessProbe: probe, readinessProbe: probe });
    expect(spec.selector?.matchLabels).toEqual({ 'app.kubernetes.io/name': metadata.name });
    expect(spec.template.metadata.labels).toMatchObject(spec.selector?.matchLabels ?? {});
    const budget = ofKind('PodDisruptionBudget').find(({ metadata: { name } }) => name === metadata.name);
    expect(budget?.spec).toEqual(spec.replicas === 1 ? undefined : { maxUnavailable: 1, selector: spec.selector });
  }
  expect(deployments.find(({ metadata: { name } }) => name === 'indexer')?.spec).toMatchObject({
    replicas: 1,
    strategy: { type: 'Recreate' },
  });
});

test('clients reach no port with health and metrics', () => {
  const service = ofKind('Service').map(({ spec }) => spec as unknown as { ports: readonly object[] });
  expect(service).toEqual([expect.objectContaining({ ports: [{ name: 'http', port: 80, targetPort: 'http' }] })]);
  const api = workloads.find(({ name }) => name === 'api')?.container;
  expect(api).toMatchObject({
    env: expect.arrayContaining([
      { name: 'PORT', value: '8080' },
      { name: 'OPERATIONS_PORT', value: '8081' },
    ]),
    ports: [
      { name: 'http', containerPort: 8080 },
      { name: 'operations', containerPort: 8081 },
    ],
  });
});

test('traffic that no policy names is denied', () => {
  expect(ofKind('NetworkPolicy').find(({ metadata: { name } }) => name === 'deny')?.spec).toEqual({
    podSelector: {},
    policyTypes: ['Ingress', 'Egress'],
  });
  const selected = JSON.stringify(ofKind('NetworkPolicy')).matchAll(
    /"app.kubernetes.io\/name":"(\w+)"|"values":\[([^\]]+)\]/g,
  );
  const names = [...selected].flatMap(([, name = '', values = '']) => [name, ...values.replaceAll('"', '').split(',')]);
  for (const name of names.filter(Boolean)) expect(workloads.map((each) => each.name)).toContain(name);
  const reachesRedis = ofKind('NetworkPolicy').find(({ metadata }) => metadata.name === 'redis')?.spec.podSelector;
  const needRedis = workloads.filter(({ container }) => container.env.some((each) => each.name === 'REDIS_URL'));
  expect(reachesRedis).toMatchObject({
    matchExpressions: [{ values: expect.arrayContaining(needRedis.map(({ name }) => name)) }],
  });
});

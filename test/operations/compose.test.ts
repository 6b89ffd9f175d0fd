import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { type CollectionTag, parse, Scalar } from 'yaml';
import { settings } from '../../config/environment.ts';
import { ownMain } from '../../local/services/own-process.ts';
import { captureRules, userRules } from '../../local/services/redis.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { createMigratedDatabase } from '../harness/database.ts';

type Service = {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly env_file?: readonly string[];
  readonly logging?: { readonly options: Readonly<Record<string, string>> };
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly deploy?: { readonly replicas: number };
  readonly profiles?: readonly string[];
  readonly restart?: string;
  readonly cpu_shares?: number;
  readonly ports?: readonly string[];
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
};

const root = (path: string) => join(PROJECT_ROOT, path);
const textOf = (path: string) => readFileSync(root(path), 'utf8');

const source = textOf('docker-compose.yml');
const compose = parse(source, { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};
/** Compose's tag that takes a list away. */
const RESET: CollectionTag = { tag: '!reset', collection: 'seq', resolve: () => new Scalar('reset') };
const services = Object.entries(compose.services);
const ours = services.filter(([, { image }]) => image === 'pool-trading-data-api');
/** Services that end by themselves. */
const COMMANDS = ['migrate', 'logins', 'operator'];
const variablesIn = (path: string) =>
  new Set([...textOf(path).matchAll(/^([A-Z0-9_]+)=/gm)].map(([, name = '']) => name));
const documented = variablesIn('.env.example');

describe('docker-compose.yml', () => {
  test('has every part of the service, the API twice, and monitoring under a profile', () => {
    expect(Object.keys(compose.services).sort()).toEqual(
      [
        'api',
        'builders',
        'capture',
        'indexer',
        'migrate',
        'logins',
        'operator',
        'grafana',
        'prometheus',
        'postgres',
        'postgres-replica',
        'redis',
      ].sort(),
    );
    expect(compose.services.api?.deploy).toEqual({ replicas: 2 });
    const underProfile = services.filter(([, { profiles }]) => profiles !== undefined);
    expect(underProfile.map(([name, { profiles }]) => [name, profiles])).toEqual([
      ['operator', ['operator']],
      ['prometheus', ['monitoring']],
      ['grafana', ['monitoring']],
    ]);
  });

  test('gives the API alone precedence where cores are short', () => {
    expect(services.filter(([, { cpu_shares: shares = 1_024 }]) => shares > 1_024).map(([name]) => name)).toEqual([
      'api',
    ]);
  });

  test('checks the health of everything that stays, and migrates before anything of ours starts', () => {
    for (const [name, { healthcheck, restart, logging }] of services) {
      expect(logging?.options['max-size'], name).toBeDefined();
      if (COMMANDS.includes(name)) expect(restart).toBe('no');
      else expect([name, restart, healthcheck?.test[0]]).toEqual([name, 'unless-stopped', 'CMD']);
    }
    for (const [name, { depends_on: dependencies }] of ours) {
      if (name === 'migrate') continue;
      expect(dependencies?.logins, name).toEqual({ condition: 'service_completed_successfully' });
    }
    expect(compose.services.logins?.depends_on?.migrate).toEqual({ condition: 'service_completed_successfully' });
  });

  test('runs bundles, mounts files that exist, and names volumes that it declares', () => {
    for (const [name, { command }] of ours) {
      expect(existsSync(root(command?.at(-1) ?? '')), `${name}: ${command?.at(-1)}`).toBe(true);
    }
    for (const [name, { volumes = [] }] of services) {
      for (const volume of volumes) {
        const [from = ''] = volume.split(':');
        if (from.startsWith('./')) expect(existsSync(root(from)), `${name}: ${from}`).toBe(true);
        else if (!from.startsWith('$')) expect(Object.keys(compose.volumes), name).toContain(from);
      }
    }
  });

  test("starts each process with Node's flags as npm run, a bare image and the tests do", () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
    for (const [, { command = [] }] of ours) {
      const [, name = ''] = /dist\/(.+)\.mjs$/.exec(command.at(-1) ?? '') ?? [];
      expect(scripts[name], name).toMatch(new RegExp(`exec node ${command.join(' ')}$`));
      expect(ownMain(name), name).toEqual(command);
    }
    expect(textOf('Dockerfile')).toContain(
      `\nCMD ${JSON.stringify(compose.services.api?.command).replaceAll(',', ', ')}\n`,
    );
  });

  test('gives our processes no shell, and no disk to write to', () => {
    for (const [name, { healthcheck, restart, read_only: readOnly, tmpfs }] of ours) {
      expect([name, readOnly, tmpfs]).toEqual([name, true, ['/tmp']]);
      if (restart !== 'no') expect(healthcheck?.test.slice(0, 2), name).toEqual(['CMD', '/nodejs/bin/node']);
    }
  });

  test('gives our processes settings that they know', () => {
    for (const [name, { environment = {} }] of ours) {
      for (const setting of Object.keys(environment)) expect(Object.keys(settings), name).toContain(setting);
    }
  });

  test('gives each process the secrets that it needs, and no other', () => {
    for (const [name, { env_file: files, environment = {} }] of ours) {
      expect(files, name).toEqual(name === 'migrate' ? undefined : ['chains.env']);
      const [user, password] = name === 'migrate' ? ['postgres', 'POSTGRES'] : [name, name.toUpperCase()];
      for (const [setting, value] of Object.entries(environment).filter(([, text]) => text.includes('PASSWORD'))) {
        const ofRedis = name === 'capture' ? 'redis://capture:${CAPTURE_' : 'redis://ptd:${REDIS_';
        const login = setting === 'REDIS_URL' ? ofRedis : `postgres://${user}:\${${password}_`;
        expect(value.startsWith(`${login}PASSWORD:?`), `${name}: ${value}`).toBe(true);
      }
      expect(environment.REDIS_URL !== undefined, name).toBe(['api', 'builders', 'capture'].includes(name));
    }
  });

  test('lets its users of Redis do what those of the tests may, and anyone only ping', () => {
    const [, anyone, user, capture] = compose.services.redis?.command?.join(' ').split(' --user ') ?? [];
    expect(anyone).toBe('default on nopass -@all +ping');
    expect(user).toBe(`ptd on >\${REDIS_PASSWORD:?set it in .env} ${userRules('pamm').join(' ')}`);
    expect(capture).toBe(`capture on >\${CAPTURE_PASSWORD:?set it in .env} ${captureRules('pamm').join(' ')}`);
  });

  test('holds no secret: passwords come from variables that the example of .env lists', () => {
    const variables = [...source.matchAll(/\$\{([A-Z0-9_]+)/g)].map(([, name]) => name);
    expect(variables.length).toBeGreaterThan(5);
    for (const name of variables) if (name !== 'LOG_LEVEL') expect(documented).toContain(name);
    const values = services.flatMap(([, { environment = {} }]) => Object.entries(environment));
    const secrets = values.flatMap(([name, value]) =>
      /PASSWORD|KEY|SECRET|TOKEN/.test(name) ? [value] : [/:\/\/\w+:(.+)@/.exec(value)?.[1] ?? []].flat(),
    );
    expect(secrets.length).toBeGreaterThanOrEqual(16);
    for (const secret of secrets) expect(secret).toMatch(/^\$\{[A-Z_]+:(\?[^}]*|-)\}$/);
    expect(textOf('chains.env.example')).not.toMatch(/^[A-Z0-9_]+=\S/m);
    expect(textOf('.env.example')).not.toMatch(/^(?!CHAINS_CONFIG_FILE)[A-Z0-9_]+=\S/m);
  });

  test('lets Prometheus scrape every process of ours, by the alerts and configuration that it mounts', () => {
    const prometheus = parse(textOf('ops/prometheus.yml')) as {
      readonly rule_files: readonly string[];
      readonly scrape_configs: readonly { dns_sd_configs: readonly { names: readonly string[]; port: number }[] }[];
    };
    const scraped = prometheus.scrape_configs.flatMap((config) => config.dns_sd_configs);
    expect(new Set(scraped.flatMap(({ names }) => names))).toEqual(
      new Set(ours.map(([name]) => name).filter((name) => !COMMANDS.includes(name))),
    );
    for (const { names, port } of scraped) {
      for (const name of names) {
        const { environment, healthcheck, ports = [] } = compose.services[name] as Service;
        expect(environment?.OPERATIONS_PORT ?? environment?.PORT, name).toBe(String(port));
        expect(healthcheck?.test.join(), name).toContain(`:${port}/health`);
        expect(ports.some((each) => each.endsWith(`:${port}`))).toBe(false);
      }
    }
    const mounted = compose.services.prometheus?.volumes?.map((volume) => volume.split(':')[1]);
    for (const file of prometheus.rule_files) expect(mounted).toContain(file);
  });
});

test('docker-compose.scaled.yml puts as many replicas behind its balancer as that looks for, and no port of theirs on the host', () => {
  const text = textOf('docker-compose.scaled.yml');
  const scaled = parse(text, { customTags: [RESET] }) as typeof compose;
  const { api, 'load-balancer': balancer, ...others } = scaled.services;
  expect(others).toEqual({});
  expect([api?.environment, api?.ports]).toEqual([{ TRUSTED_PROXIES: '1' }, 'reset']);
  const proxy = textOf('ops/haproxy.cfg');
  expect(balancer?.volumes).toEqual(['./ops/haproxy.cfg:/usr/local/etc/haproxy/haproxy.cfg:ro']);
  const [, bound = ''] = /^ +bind :(\d+)$/m.exec(proxy) ?? [];
  expect(balancer?.ports).toEqual([`3000:${bound}`]);
  const { PORT: port, OPERATIONS_PORT: operations } = compose.services.api?.environment ?? {};
  expect(proxy).toContain(`server-template api ${api?.deploy?.replicas} api:${port} check port ${operations} `);
  expect(proxy).toContain('set-header X-Forwarded-For %[src]');
});

test('the variables that the real chains need are in the example of chains.env, and nothing else', () => {
  const parts = ['base', 'unichain', 'op-mainnet', 'world-chain'].map((name) => `config/${name}-parts.json`);
  const files = ['config/mainnet.json', ...parts].map(textOf).join('');
  const named = [...files.matchAll(/"env:([A-Z0-9_]+)"|"apiKeyEnv": *"([A-Z0-9_]+)"/g)];
  expect(named.length).toBeGreaterThanOrEqual(10);
  expect(variablesIn('chains.env.example')).toEqual(new Set(named.map(([, url, key]) => url ?? key)));
});

test('a backup has every table of the operator and of history that neither the chains nor capture can fill again', async () => {
  const database = await createMigratedDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    `SELECT concat_ws('.', schemaname, tablename) AS name FROM pg_tables WHERE schemaname IN ('operator', 'history')`,
  );
  await client.end();
  await database.drop();
  const backedUp = [...textOf('ops/postgres/backup.sh').matchAll(/--table='?(\w+\.\w+?)(_\*')?(?=\s)/g)].map(
    ([, name]) => name,
  );
  const madeAgain = [
    'backfill',
    'first_sync',
    'migration',
    'listing_window',
    'listing_source',
    'pool_listing',
    'pool_trend',
    'pool_persistence',
    'listed_pool',
    'fiat_price',
    'found_contract',
    'pool_classification',
    'pool_storage',
    'price_health',
    'listing_price',
    'index_audit',
    'log_fault',
  ].map((name) => `operator.${name}`);
  // Of each index, and the minutes of some days.
  const ofHistory = ['trade_mark', 'trade_bar', 'quote_minute', 'fiat_price_minute', 'persistence_minute'];
  madeAgain.push(...ofHistory.map((name) => `history.${name}`));
  expect(rows.map(({ name }) => name).sort()).toEqual([...backedUp, ...madeAgain].sort());
});

describe('Dockerfile', () => {
  const file = textOf('Dockerfile');
  const stages = [...file.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);

  test('builds for the Node that it runs on, and runs without a shell, as a user without rights', () => {
    expect(stages).toEqual([
      expect.stringMatching(/^node:24[.]\d+[.]\d+-trixie-slim$/),
      'gcr.io/distroless/nodejs24-debian13:nonroot',
    ]);
    expect(file).toMatch(/^USER nonroot$/m);
    const [, last = ''] = file.split(/^FROM gcr/m);
    expect(last).not.toMatch(/^RUN /m);
  });

  test('patches packages as it installs them', () => {
    expect(file).toMatch(/^COPY patches patches\nRUN .*npm ci$/m);
    const { scripts } = JSON.parse(textOf('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
    expect(scripts.postinstall).toContain('patch-package --error-on-fail --error-on-warn');
  });
});

import { type Check, expectMany, type Project } from './project.ts';

const codeIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

/** Each alert has its line in operate.md. */
export const checkAlerts: Check = ({ textOf }) => {
  const alerts = [...textOf('ops/alerts.yml').matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
  const lines = textOf('docs/run/operate.md').split('\n');
  const missing = alerts.filter((name) => !lines.some((line) => line.startsWith('- ') && line.includes(`\`${name}\``)));
  return [...expectMany('alerts', alerts, 10), ...missing.map((name) => `operate.md has no line of ${name}`)];
};

/** Paths of the API, those of WebSockets included, with their parameters. */
function apiPaths({ textOf }: Project): readonly string[] {
  const { paths } = JSON.parse(textOf('client/openapi.json')) as { paths: object };
  const { channels } = JSON.parse(textOf('client/asyncapi.json')) as { channels: Record<string, { address: string }> };
  return [...Object.keys(paths), ...Object.values(channels).map(({ address }) => address)];
}

/** The endpoints of the README are where it says. */
export const checkEndpoints: Check = (project) => {
  const [, table = ''] = project.textOf('README.md').split('| Below `/public/v1` | Response |');
  const rows = table.split('\n\n')[0]?.split('\n').slice(2) ?? [];
  const named = rows.flatMap((row) => {
    const spans = codeIn(row.split(' | ')[0] ?? '').flatMap((code) => code.match(/[/…]\S*\/\S+|\/\w+$/)?.[0] ?? []);
    const [first = ''] = spans;
    return spans.map((path) => `/public/v1${path.replace('…', first.slice(0, first.lastIndexOf('/')))}`);
  });
  const paths = apiPaths(project);
  const unknown = named.filter((path) => !paths.includes(path));
  return [...expectMany('endpoints', named, 20), ...unknown.map((path) => `README.md: the API has no ${path}`)];
};

/** install.md lets a balancer forward all that is public. */
export const checkForwarded: Check = (project) => {
  const [, list = ''] = project.textOf('docs/run/install.md').split('forwards only ');
  const forwarded = codeIn(list.split('. ')[0] ?? '');
  const [, documents = ''] = project.textOf('README.md').split('A running API documents itself at ');
  const isForwarded = (path: string) =>
    forwarded.some((each) => each === path || (each !== '/' && path.startsWith(`${each.replace('/*', '')}/`)));
  const all = [...apiPaths(project), ...codeIn(documents.split('\n')[0] ?? '')];
  const missing = all.filter((path) => !isForwarded(path));
  return [...expectMany('paths', all, 20), ...missing.map((path) => `install.md lets no balancer forward ${path}`)];
};

/** Commands that pages name exist, with their subcommands. */
export const checkCommands: Check = ({ files, pages, textOf }) => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  const named = pages.flatMap((page) => [...textOf(page).matchAll(/npm run ([a-z:-]*[a-z])(?: -- ([a-z]+)\b)?/g)]);
  const missing = named.filter(([, script = '', subcommand]) => {
    if (!scripts[script]) return !Object.keys(scripts).some((name) => name.startsWith(`${script}:`));
    const source = `cli/${script}.ts`;
    return subcommand && files.includes(source) && !textOf(source).includes(`'${subcommand}'`);
  });
  return [...expectMany('commands', named, 40), ...missing.map(([command]) => `no command: ${command}`)];
};

/** Pages name the Node that comes with the packages. An older one is enough to install them. */
export const checkNode: Check = ({ textOf }) => {
  const { devDependencies } = JSON.parse(textOf('package.json')) as { devDependencies: { node: string } };
  const [major] = devDependencies.node.split('.');
  return ['README.md', 'CONTRIBUTING.md', 'docs/run/install.md'].flatMap((page) => {
    const named = [...textOf(page).matchAll(/(?<!npm of )Node (\d[\d.]*\d)/g)].map(([, version]) => version);
    const wrong = named.filter((version) => version !== major);
    return [...expectMany(`${page}: Node`, named, 1), ...wrong.map((version) => `${page} names Node ${version}`)];
  });
};

/** One answer of a process's `/metrics`. */
export type Scrape = {
  /** Names that samples have or may come to have, as `http_request_duration_seconds_bucket`. */
  readonly names: ReadonlySet<string>;
  /** Sum of the samples of this name that have all of these labels; undefined without such a sample. */
  readonly sum: (name: string, labels?: Readonly<Record<string, string>>) => number | undefined;
};

type Sample = { readonly name: string; readonly labels: string; readonly value: number };

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;

export async function scrape(url: string, paths: readonly string[] = ['/metrics']): Promise<Scrape> {
  const pages = await Promise.all(
    paths.map(async (path) => {
      const response = await fetch(`${url}${path}`);
      if (!response.ok) throw new Error(`${url}${path} answered ${response.status}`);
      return response.text();
    }),
  );
  const lines = pages.join('\n').split('\n');
  const samples = lines.flatMap(parseSample);
  return {
    names: new Set(lines.flatMap(declaredNames)),
    sum: (name, labels = {}) => {
      const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
      const found = samples.filter((it) => it.name === name && wanted.every((label) => it.labels.includes(label)));
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
    },
  };
}

function parseSample(line: string): Sample[] {
  const [, name, labels = '', value] = SAMPLE.exec(line) ?? [];
  return name === undefined ? [] : [{ name, labels, value: Number(value) }];
}

/** A metric is declared before its first sample: one that counts failures has no sample while nothing fails. */
function declaredNames(line: string): string[] {
  const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
  if (name === undefined) return [];
  return type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name];
}

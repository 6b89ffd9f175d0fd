import { useEffect } from 'preact/hooks';
import { FIGURES, REASONS, STATUSES, type Term, TIERS } from '../glossary-terms.ts';

/** Explains every word of the other pages. */
export function GlossaryPage() {
  useEffect(() => document.getElementById(location.hash.slice(1))?.scrollIntoView(), []);
  return (
    <article class="glossary">
      <h1>Glossary</h1>
      <Terms title="Tiers" terms={TIERS} />
      <Terms title="Reasons why a pool is not green" terms={REASONS} />
      <Terms title="Status of a price" terms={STATUSES} />
      <Terms title="Figures" terms={FIGURES} />
    </article>
  );
}

function Terms({ title, terms }: { readonly title: string; readonly terms: Readonly<Record<string, Term>> }) {
  return (
    <section>
      <h2>{title}</h2>
      <dl>
        {Object.entries(terms).map(([code, { label, meaning }]) => (
          <div key={code} id={code}>
            <dt>
              {label} <code>{code}</code>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

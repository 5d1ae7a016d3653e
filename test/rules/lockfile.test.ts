import { readFileSync } from 'node:fs';
import { expect } from 'chai';

interface Lock {
  packages: Record<string, { optionalDependencies?: Record<string, string>; resolved?: string }>;
}

describe('the lock file', () => {
  const { packages } = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as Lock;

  it('holds every optional package it names, without which npm ci refuses to start', () => {
    const held = new Set(Object.keys(packages).map((path) => path.split('node_modules/').pop()));
    const named = Object.values(packages).flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}));
    expect(named.length).to.be.greaterThan(10);
    expect(named.filter((name) => !held.has(name))).to.deep.equal([]);
  });

  it('names no address that only one machine reaches', () => {
    const elsewhere = Object.values(packages).filter(
      ({ resolved }) => resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/'),
    );
    expect(elsewhere).to.deep.equal([]);
  });
});

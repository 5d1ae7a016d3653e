import { expect } from 'chai';
import fc from 'fast-check';
import { isoTime } from '../../src/contract/iso-time.ts';

const same = '2026-03-02T09:05:07.250Z';

describe('a date and time of ISO 8601', () => {
  it('means the same in every form', () => {
    const forms = [
      same,
      '2026-03-02T09:05:07.25Z',
      '2026-03-02T09:05:07,25Z',
      '2026-03-02T09:05:07.250999999Z',
      '2026-03-02t09:05:07.250z',
      '2026-03-02T09:05:07.250+00:00',
      '2026-03-02T09:05:07.250-00:00',
      '2026-03-02T11:05:07.250+02:00',
      '2026-03-02T11:05:07.250+0200',
      '2026-03-02T11:05:07.250+02',
      '2026-03-02T03:35:07.250-05:30',
      '2026-03-02T03:35:07.250\u221205:30',
      '2026-03-03T04:05:07.250+19:00',
      '20260302T090507.250Z',
      '20260302T110507,250+0200',
      '2026-061T09:05:07.250Z',
      '2026061T090507.250Z',
      '2026-W10-1T09:05:07.250Z',
      '2026W101T090507.250Z',
    ];
    for (const form of forms) expect(new Date(isoTime(form)).toISOString(), form).to.equal(same);
  });

  it('may leave out what is zero, and end in a fraction of its last part', () => {
    const forms: [string, string][] = [
      ['2026-03-02T09:05:07Z', '2026-03-02T09:05:07.000Z'],
      ['2026-03-02T09:05Z', '2026-03-02T09:05:00.000Z'],
      ['20260302T0905Z', '2026-03-02T09:05:00.000Z'],
      ['2026-03-02T09Z', '2026-03-02T09:00:00.000Z'],
      ['2026-03-02T09+01', '2026-03-02T08:00:00.000Z'],
      ['2026-03-02T09:05.5Z', '2026-03-02T09:05:30.000Z'],
      ['2026-03-02T09,25Z', '2026-03-02T09:15:00.000Z'],
      ['2026-03-02T09:05:07.0009Z', '2026-03-02T09:05:07.000Z'],
      ['2026-03-02T09:05:07.999999999Z', '2026-03-02T09:05:07.999Z'],
    ];
    for (const [form, means] of forms) expect(new Date(isoTime(form)).toISOString(), form).to.equal(means);
  });

  it('knows the ends of days, months, years and weeks', () => {
    const forms: [string, string][] = [
      ['2026-03-02T24:00:00Z', '2026-03-03T00:00:00.000Z'],
      ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
      ['2028-02-29T00:00Z', '2028-02-29T00:00:00.000Z'],
      ['2028-366T00:00Z', '2028-12-31T00:00:00.000Z'],
      ['2020-W53-7T00:00Z', '2021-01-03T00:00:00.000Z'],
      ['2025-W01-1T00:00Z', '2024-12-30T00:00:00.000Z'],
      ['0000-01-01T00:00Z', '0000-01-01T00:00:00.000Z'],
      ['0099-12-31T00:00Z', '0099-12-31T00:00:00.000Z'],
      ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ];
    for (const [form, means] of forms) expect(new Date(isoTime(form)).toISOString(), form).to.equal(means);
  });

  it('is nothing else', () => {
    const others = [
      '',
      'tomorrow',
      '2026-03-02',
      '09:05:07Z',
      '1772442307250',
      // Whose time of day it is has to be said.
      '2026-03-02T09:05:07',
      '2026-03-02 09:05:07Z',
      '2026-03T09:05Z',
      '2026-W10T09:05Z',
      // Both parts have separators, or none has.
      '2026-03-02T0905Z',
      '20260302T09:05Z',
      '2026-0302T09:05Z',
      '2026-03-02T09:0507Z',
      '2026-13-01T00:00:00Z',
      '2026-00-01T00:00:00Z',
      '2026-02-29T00:00:00Z',
      '2026-04-31T00:00:00Z',
      '2026-01-00T00:00:00Z',
      '2026-000T00:00:00Z',
      '2026-366T00:00:00Z',
      '2026-W00-1T00:00Z',
      '2025-W53-1T00:00Z',
      '2026-W10-8T00:00Z',
      '2026-03-02T24:00:01Z',
      '2026-03-02T24:01Z',
      '2026-03-02T25:00Z',
      '2026-03-02T09:60Z',
      '2026-03-02T09:05:60Z',
      '2026-03-02T09:05:61Z',
      '2026-03-02T09:05:07.Z',
      '2026-03-02T09:05:07+24:00',
      '2026-03-02T09:05:07+02:60',
      '2026-03-02T09:05:07+2:00',
      '2026-03-02T09:05:07ZZ',
      '2026-03-02T09:05:07Z\n',
      '+002026-03-02T09:05:07Z',
      '0000-01-01T00:00:00+01:00',
      '9999-12-31T23:59:59-01:00',
      `2026-03-02T09:05:07.${'1'.repeat(50_000)}Z`,
    ];
    for (const other of others) expect(isoTime(other), other.slice(0, 60)).to.be.NaN;
  });

  it('is read as the platform reads it where that knows the form', () => {
    const time = fc.date({
      min: new Date('0000-01-02T00:00:00Z'),
      max: new Date('9999-12-30T00:00:00Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(time, fc.integer({ min: -1_439, max: 1_439 }), (date, minutes) => {
        const local = new Date(date.getTime() + minutes * 60_000).toISOString().slice(0, -1);
        if (!/^\d{4}-/.test(local)) return;
        const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
        const text = `${local}${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
        expect(isoTime(text)).to.equal(date.getTime());
        expect(Date.parse(text)).to.equal(date.getTime());
      }),
    );
  });
});

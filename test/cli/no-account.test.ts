/** A user id that the system has no account for, as containers give it. */
import { expect } from 'chai';
import { Home } from './support/home.ts';

if (process.platform === 'linux')
  describe('a user without an account', () => {
    let home: Home;
    before(() => {
      home = new Home();
    });
    after(() => home.close());

    const inside = (script: string) => home.shell(`unshare -U --map-user=54321 sh -c '${script}'`);

    it('has a server of their own, as its owner', async () => {
      const { code, stdout, stderr } = await inside('service board create demo && service whoami');
      expect(code, stderr).to.equal(0);
      expect(stdout).to.include('demo').and.include('owner');
    });

    it('is told what to set where no home folder is named', async () => {
      const { code, stderr } = await inside('unset HOME SERVICE_HOME; service version');
      expect([code, stderr]).to.deep.equal([
        2,
        'Error (invalid_request): This user has no home folder, as it has no account on this machine.\nHint: Set SERVICE_HOME, or HOME\n',
      ]);
    });
  });

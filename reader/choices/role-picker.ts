import type { ReadChoice } from '../../contract/reading.ts';
import type { ClickableFacts, FrameSnapshot } from '../facts.ts';
import { anyOf, normalize } from '../text/normalize.ts';
import { ASIDE_REGIONS } from './interstitials.ts';
import { pageTopic } from '../text/page-text.ts';

/** Words of a page that asks for the visitor's role. */
const ASKS_ROLE = anyOf(
  'who are you, i am a, i am an, are you a, are you an, what best describes you, which best describes you, how will you use, how do you want to sign in as',
  'select your role, choose your role, pick your role, select a role, choose a role, select your user type, choose your user type, select user type, account type, select your account type, choose your account type, select your portal, choose your portal, log in as, login as, sign in as, log in as a, continue as',
  'wer sind sie, wer bist du, ich bin, anmelden als, wahlen sie ihre rolle, rolle wahlen, qui etes vous, je suis, vous etes, connectez vous en tant que, choisissez votre profil',
  'quien eres, soy, elige tu perfil, seleccione su perfil, ingresar como, chi sei, sono un, accedi come, quem e voce, eu sou, sou, entrar como, wie bent u, ik ben, inloggen als, jestem, zaloguj jako, ben bir, giris turu',
  'кто вы, войти как, выберите роль, あなたは, 选择身份, 选择角色, 登录身份, 選擇身份, 역할을 선택, 역할 선택',
);
/** Roles of a site's users. */
const ROLE = anyOf(
  'student, students, pupil, pupils, teacher, teachers, educator, educators, instructor, instructors, faculty, staff, parent, parents, guardian, guardians, parent or guardian, family, families, alumni, school administrator',
  'employee, employees, employer, employers, manager, managers, administrator, administrators, admin, contractor, recruiter, recruiters, candidate, candidates, applicant, job seeker, human resources, hr',
  'customer, customers, client, clients, member, members, partner, partners, supplier, suppliers, vendor, vendors, dealer, dealers, agent, agents, broker, brokers, advisor, advisors, adviser, merchant, merchants, seller, sellers, buyer, buyers, reseller, distributor',
  'patient, patients, doctor, doctors, physician, physicians, provider, providers, clinician, clinicians, caregiver, caregivers, nurse, pharmacist, resident, residents, tenant, tenants, landlord, landlords, owner, owners, homeowner, driver, drivers, rider, riders, volunteer, volunteers, coach, author, authors, reviewer, reviewers, editor, editors',
  'individual, individuals, personal, private, business, businesses, corporate, company, companies, organization, organisation, institution, institutional, retail, commercial',
  'schuler, schulerin, schulerinnen und schuler, lehrer, lehrerin, lehrkraft, lehrkrafte, eltern, studierende, student in, mitarbeiter, mitarbeiterin, mitarbeitende, kunde, kundin, kunden, privatkunde, privatkunden, geschaftskunde, geschaftskunden, firmenkunde, firmenkunden, arbeitnehmer, arbeitgeber, patientin, arzt, arztin',
  'eleve, eleves, etudiant, etudiants, enseignant, enseignants, parent d eleve, particulier, particuliers, professionnel, professionnels, entreprise, entreprises, salarie, employeur, alumno, alumnos, estudiante, estudiantes, profesor, profesores, docente, padre, padres, madre, empresa, empresas, particular, particulares, cliente, clientes, empleado, proveedor, paciente, medico',
  'studente, studenti, genitore, genitori, privati, aziende, azienda, dipendente, fornitore, aluno, alunos, professor, professores, responsavel, pais, pessoa fisica, pessoa juridica, funcionario, leerling, leraar, docent, ouder, ouders, klant, medewerker, zakelijk, particulier, uczen, nauczyciel, rodzic, klient, firma, ogrenci, ogretmen, veli, bireysel, kurumsal',
  'ученик, учитель, родитель, студент, преподаватель, сотрудник, клиент, 学生, 生徒, 教師, 教員, 先生, 保護者, 个人, 企业, 教师, 老师, 家长, 個人, 企業, 학생, 교사, 선생님, 학부모, 개인, 기업',
);
const ONLY_ROLE = new RegExp(`^(?:${ROLE.source})$`, 'u');
/** Words around a role in a button's text. */
const ROLE_AFFIXES =
  /^((i am|i'm|im|we are|as|for|log ?in as|sign ?in as|continue as|ich bin|je suis|soy|sou|sono|ik ben) )?((an?|the|ein|eine|un|une|uno|una|um|uma|een) )?| (log ?in|sign ?in|portal|access|area|account)$/g;
const MAX_ROLES = 8;

/**
 * The roles that a page without a login form offers (`Student`, `Teacher`), each of which leads to its own form. Empty if the page
 * does not ask for a role.
 */
export function readRoles(frames: readonly FrameSnapshot[]): ReadChoice[] {
  if (!ASKS_ROLE.test(`${pageTopic(frames)} | ${buttonTexts(frames)}`)) return [];
  const roles = frames.flatMap((frame) =>
    frame.facts.clickables.filter(isRole).map((button) => ({
      type: 'sign_in_method' as const,
      label: button.text.slice(0, 500),
      selector: button.selector,
      xpath: button.xpath,
      masked_destination: null,
      description: null,
      frame: [...frame.path],
    })),
  );
  return roles.length >= 2 && roles.length <= MAX_ROLES ? roles : [];
}

function buttonTexts(frames: readonly FrameSnapshot[]): string {
  const inBody = frames.flatMap(({ facts }) => facts.clickables).filter(isInBody);
  return normalize(inBody.map(({ text }) => text).join(' | '));
}

function isInBody({ visible, disabled, region }: ClickableFacts): boolean {
  return visible && !disabled && !ASIDE_REGIONS.has(region);
}

/** True for a button in the body of the page that names a role and little else. */
function isRole(button: ClickableFacts): boolean {
  const [title = button.text] = button.lines;
  const said = normalize(title).replaceAll(ROLE_AFFIXES, '').trim();
  return isInBody(button) && said.length <= 40 && ONLY_ROLE.test(said);
}

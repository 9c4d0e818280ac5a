import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Application } from './application.ts';
import { mavenArchive, run, springArguments, springJar, startServer } from './server-process.ts';

const ADMIN = { identifier: 'admin', password: 'Correct-horse-battery-9' };

const ARTEMIS = '2.40.0';

const artemis: Application = {
  name: 'ActiveMQ Artemis',
  madeOf: 'Jetty, Hawtio, React, PatternFly 5',
  installedAs: 'artemis',
  install: (folder) => mavenArchive(folder, `org.apache.activemq:apache-artemis:${ARTEMIS}:zip:bin`),
  start: async ({ folder, data, port }) => {
    const url = `http://localhost:${port}`;
    const broker = join(data, 'broker');
    const account = ['--user', ADMIN.identifier, '--password', ADMIN.password, '--require-login', '--silent'];
    const places = ['--http-host', '127.0.0.1', '--http-port', String(port), '--default-port', String(port + 1)];
    const less = [
      '--no-amqp-acceptor',
      '--no-hornetq-acceptor',
      '--no-mqtt-acceptor',
      '--no-stomp-acceptor',
      '--nio',
      '--no-autotune',
    ];
    await mkdir(data, { recursive: true });
    const program = join(folder, `apache-artemis-${ARTEMIS}`, 'bin', 'artemis');
    await run('bash', [program, 'create', ...account, ...places, ...less, broker]);
    const serve = () => startServer('bash', [join(broker, 'bin', 'artemis'), 'run'], `${url}/console/`, { cwd: data });
    let server = await serve();
    return {
      domain: `localhost:${port}`,
      loginUrl: `${url}/console/`,
      account: ADMIN,
      // Its sessions are in memory.
      endSessions: async () => {
        await server.stop();
        server = await serve();
      },
      byHand: async (page) => {
        await page.goto(`${url}/console/`);
        await page.fill('[name*=username], #pf-login-username-id', ADMIN.identifier);
        await page.fill('[name*=password], #pf-login-password-id', ADMIN.password);
        await page.keyboard.press('Enter');
        await page.waitForSelector('text=/artemis|broker diagram|acceptors/i >> visible=true');
        await page.waitForURL((address) => !address.pathname.endsWith('/login'));
      },
      stop: () => server.stop(),
    };
  },
};

const ADMIN_POM = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<parent><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-parent</artifactId><version>3.3.5</version></parent>
<groupId>demo</groupId><artifactId>admin</artifactId><version>1</version>
<properties><java.version>17</java.version></properties>
<dependencies>
<dependency><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-web</artifactId></dependency>
<dependency><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-security</artifactId></dependency>
<dependency><groupId>de.codecentric</groupId><artifactId>spring-boot-admin-starter-server</artifactId><version>3.3.6</version></dependency>
</dependencies>
<build><plugins><plugin><groupId>org.springframework.boot</groupId><artifactId>spring-boot-maven-plugin</artifactId></plugin></plugins></build>
</project>
`;

const ADMIN_PROGRAM = `package demo;
import de.codecentric.boot.admin.server.config.EnableAdminServer;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.SavedRequestAwareAuthenticationSuccessHandler;
@SpringBootApplication
@EnableAdminServer
public class Admin {
  public static void main(String[] args) { SpringApplication.run(Admin.class, args); }
  @Bean
  SecurityFilterChain chain(HttpSecurity http, @Value("\${demo.key}") String key) throws Exception {
    var success = new SavedRequestAwareAuthenticationSuccessHandler();
    success.setTargetUrlParameter("redirectTo");
    success.setDefaultTargetUrl("/");
    http.authorizeHttpRequests(each -> each.requestMatchers("/assets/**", "/login").permitAll().anyRequest().authenticated())
      .formLogin(form -> form.loginPage("/login").successHandler(success))
      .logout(out -> out.logoutUrl("/logout"))
      .rememberMe(remember -> remember.key(key));
    return http.build();
  }
}
`;

const springBootAdmin: Application = {
  name: 'Spring Boot Admin',
  madeOf: 'Spring Security, Thymeleaf, Vue, Tailwind; "remember me"',
  installedAs: 'spring-boot-admin',
  install: (folder) => springJar(folder, 'admin-1.jar', ADMIN_POM, ['Admin.java', ADMIN_PROGRAM]),
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const url = `http://localhost:${port}`;
    const settings = {
      'server.port': String(port),
      'server.address': '127.0.0.1',
      'spring.security.user.name': ADMIN.identifier,
      'spring.security.user.password': ADMIN.password,
    };
    const args = springArguments(settings);
    const program = ['-Xmx300m', '-jar', join(folder, 'target', 'admin-1.jar')];
    const serve = (key: string) =>
      startServer('java', [...program, ...args, `--demo.key=${key}`], `${url}/login`, { cwd: data });
    let server = await serve('a');
    return {
      domain: `localhost:${port}`,
      account: ADMIN,
      endSessions: async () => {
        await server.stop();
        server = await serve('b');
      },
      byHand: async (page) => {
        await page.goto(url);
        await page.fill('[name=username]', ADMIN.identifier);
        await page.fill('[name=password]', ADMIN.password);
        await page.press('[name=password]', 'Enter');
        await page.waitForURL((address) => address.pathname !== '/login');
        await page.waitForSelector('a[href*="wallboard"]');
      },
      stop: () => server.stop(),
    };
  },
};

const CAMUNDA_POM = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<parent><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-parent</artifactId><version>3.3.5</version></parent>
<groupId>demo</groupId><artifactId>processes</artifactId><version>1</version>
<properties><java.version>17</java.version></properties>
<dependencies>
<dependency><groupId>org.camunda.bpm.springboot</groupId><artifactId>camunda-bpm-spring-boot-starter-webapp</artifactId><version>7.22.0</version></dependency>
<dependency><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-jdbc</artifactId></dependency>
<dependency><groupId>com.h2database</groupId><artifactId>h2</artifactId></dependency>
</dependencies>
<build><plugins><plugin><groupId>org.springframework.boot</groupId><artifactId>spring-boot-maven-plugin</artifactId></plugin></plugins></build>
</project>
`;

const CAMUNDA_PROGRAM = `package demo;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
@SpringBootApplication
public class Processes { public static void main(String[] args) { SpringApplication.run(Processes.class, args); } }
`;

const camunda: Application = {
  name: 'Camunda',
  madeOf: 'Spring Boot, AngularJS, Bootstrap 3; the form at a hash address, after the application frame was rendered',
  installedAs: 'camunda',
  install: (folder) => springJar(folder, 'processes-1.jar', CAMUNDA_POM, ['Processes.java', CAMUNDA_PROGRAM]),
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const url = `http://localhost:${port}`;
    const settings = {
      'server.port': String(port),
      'server.address': '127.0.0.1',
      'spring.datasource.url': 'jdbc:h2:mem:processes',
      'camunda.bpm.admin-user.id': ADMIN.identifier,
      'camunda.bpm.admin-user.password': ADMIN.password,
    };
    const args = springArguments(settings);
    const program = ['-Xmx350m', '-jar', join(folder, 'target', 'processes-1.jar'), ...args];
    const serve = () => startServer('java', program, `${url}/camunda/app/welcome/default/`, { cwd: data });
    let server = await serve();
    return {
      domain: `localhost:${port}`,
      account: ADMIN,
      // Its sessions are in memory.
      endSessions: async () => {
        await server.stop();
        server = await serve();
      },
      byHand: async (page) => {
        await page.goto(url);
        await page.fill('[ng-model=username]', ADMIN.identifier);
        await page.fill('[ng-model=password]', ADMIN.password);
        await page.press('[ng-model=password]', 'Enter');
        await page.waitForSelector('.logout', { state: 'attached' });
      },
      stop: () => server.stop(),
    };
  },
};

/** Consoles from Maven Central. */
export const JAVA_CONSOLES: readonly Application[] = [artemis, springBootAdmin, camunda];

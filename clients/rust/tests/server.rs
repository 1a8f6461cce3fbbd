use coxswain_test::Server;
use std::net::TcpStream;

fn connect(url: &str) -> std::io::Result<TcpStream> {
    TcpStream::connect(url.trim_start_matches("https://"))
}

#[test]
fn serves_until_it_is_dropped() {
    let server = Server::start(&["--controllers=none"]).unwrap();
    let (url, kubeconfig) = (server.url.clone(), server.kubeconfig.clone());
    connect(&url).unwrap();
    assert!(std::fs::read_to_string(&kubeconfig).unwrap().contains("certificate-authority-data"));
    drop(server);
    assert!(!kubeconfig.exists());
    assert!(connect(&url).is_err());
}

#[test]
fn tells_why_it_did_not_start() {
    let error = Server::start(&["--no-such-flag"]).err().unwrap().to_string();
    assert!(error.contains("unknown option '--no-such-flag'"), "{error}");
}

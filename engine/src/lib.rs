pub mod build; pub mod case; pub mod contract; pub mod digest; pub mod registry; pub mod report; pub mod run; pub mod sandbox; pub mod stats; pub mod store; pub mod suite; mod suggest;

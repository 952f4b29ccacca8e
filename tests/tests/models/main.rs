//! Model files: conversion, damage, pulling from fakes on loopback, and the commands of
//! the real binary. Nothing here leaves the machine, except the one ignored test.

mod command;
mod convert;
mod damage;
mod fakes;
mod pull;
mod synthetic;
